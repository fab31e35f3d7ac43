//! Gradients of coordinates, from those of distances.

use crate::arguments::list;
use crate::calls::chamfer::farpoint_chamfer_result;
use crate::calls::search::farpoint_neighbors_result;
use crate::calls::within::farpoint_within_result;
use crate::constants::farpoint_status;
use crate::handle::{free, read, write_result};
use crate::options::{farpoint_run_options, run};
use crate::points::{InputPoints, farpoint_points};
use crate::run::{Either, Number, Precision, Run, in_its_precision, of_either, on_place};
use crate::status::{Failure, invalid};
use farpoint::backend::memory;
use farpoint::{Chamfer, Device, Gradients, Neighbors, Searcher, WithinBall};
use std::borrow::Cow;
use std::ffi::c_void;

/// Gradients of the coordinates of two clouds.
///
/// Made by farpoint_chamfer_backward() and its like, freed by farpoint_gradients_result_free(). It
/// never changes, so any number of threads may read it at a time.
pub struct farpoint_gradients_result(Either<Gradients<f32>, Gradients<f64>>);

/// Gradients of the coordinates of two clouds, a number per coordinate, without gaps. Addresses are
/// valid until the result is freed.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub struct farpoint_gradients_view {
    /// Numbers of the first cloud: its points times its dimensions.
    pub a_count: usize,
    /// Gradients of the first cloud; NULL if the points were not `float`.
    pub a_f32: *const f32,
    /// Gradients of the first cloud for points of type `double`; NULL if they were not.
    pub a_f64: *const f64,
    /// Numbers of the second cloud.
    pub b_count: usize,
    /// Gradients of the second cloud; NULL if the points were not `float`.
    pub b_f32: *const f32,
    /// Gradients of the second cloud for points of type `double`; NULL if they were not.
    pub b_f64: *const f64,
}

/// Computes the gradients of the coordinates of both clouds from those of the raw distances.
///
/// The distance of a point p to its nearest q with the gradient g sends 2 g (p - q) to p and the
/// negative of it to q (norm 1: g times the sign of the difference). The same bits on every run, on
/// any number of threads. For the mean of `n` distances give `1 / n` for each.
///
/// @param found    what farpoint_chamfer() returned for these clouds
/// @param a        the first cloud, as passed there
/// @param b        the second cloud, as passed there
/// @param grad_a   gradients of the raw distances from `a` to `b`: a number of the clouds' scalar
///                 type per row of `a`. NULL: all 0
/// @param grad_b   the same from `b` to `a`, a number per row of `b`. NULL: all 0
/// @param options  options of the run; may be NULL
/// @param result   is set to the gradients, to be freed by farpoint_gradients_result_free(); to NULL
///                 on an error
/// @return FARPOINT_OK or another status; farpoint_last_error() then has the text
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_chamfer_backward(
    found: *const farpoint_chamfer_result,
    a: farpoint_points,
    b: farpoint_points,
    grad_a: *const c_void,
    grad_b: *const c_void,
    options: *const farpoint_run_options,
    result: *mut *mut farpoint_gradients_result,
) -> farpoint_status {
    // SAFETY: the header requires a place, a result, clouds and gradients as described.
    unsafe { write_result(result, || chamfer(found, [&a, &b], [grad_a, grad_b], options)) }
}

/// Frees gradients. NULL is fine.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_gradients_result_free(result: *mut farpoint_gradients_result) {
    // SAFETY: the header requires NULL or a result that is not freed.
    unsafe { free(result) }
}

/// Returns the gradients, valid until they are freed; all 0 for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_gradients_result_view(
    result: *const farpoint_gradients_result,
) -> farpoint_gradients_view {
    // SAFETY: the header requires NULL or a result that is not freed.
    unsafe { read(result, farpoint_gradients_view::default(), farpoint_gradients_result::view) }
}

impl farpoint_gradients_result {
    fn view(&self) -> farpoint_gradients_view {
        let (a_f32, a_f64) = in_its_precision!(&self.0, both => &both.a[..]).addresses();
        let (b_f32, b_f64) = in_its_precision!(&self.0, both => &both.b[..]).addresses();
        let (a_count, b_count) = of_either!(&self.0, both => (both.a.len(), both.b.len()));
        farpoint_gradients_view { a_count, a_f32, a_f64, b_count, b_f32, b_f64 }
    }
}

/// Computes the gradients of the coordinates of both clouds from those of the raw distances that
/// farpoint_search() found: as farpoint_chamfer_backward(). CPU only.
///
/// @param found    what farpoint_search() returned for these clouds
/// @param x        the query points, as passed there
/// @param y        the searched cloud, as passed there
/// @param grad     `rows * k` numbers of the clouds' scalar type; values in places without a
///                 neighbor are ignored
/// @param options  options of the run; may be NULL
/// @param result   is set to the gradients, to be freed by farpoint_gradients_result_free(); to NULL
///                 on an error
/// @return FARPOINT_OK or another status; farpoint_last_error() then has the text
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_search_backward(
    found: *const farpoint_neighbors_result,
    x: farpoint_points,
    y: farpoint_points,
    grad: *const c_void,
    options: *const farpoint_run_options,
    result: *mut *mut farpoint_gradients_result,
) -> farpoint_status {
    // SAFETY: the header requires a place, a result, clouds and gradients as described.
    unsafe { write_result(result, || search(found, [&x, &y], grad, options)) }
}

/// farpoint_search_backward() for results of farpoint_within(): `grad` has one number per neighbor.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn farpoint_within_backward(
    found: *const farpoint_within_result,
    x: farpoint_points,
    y: farpoint_points,
    grad: *const c_void,
    options: *const farpoint_run_options,
    result: *mut *mut farpoint_gradients_result,
) -> farpoint_status {
    // SAFETY: the header requires a place, a result, clouds and gradients as described.
    unsafe { write_result(result, || within(found, [&x, &y], grad, options)) }
}

/// Arguments of a gradient call besides the gradients.
struct Clouds<'a> {
    run: Run,
    clouds: [&'a farpoint_points; 2],
}

impl<'a> Clouds<'a> {
    /// # Safety
    /// NULL, or as large as its first member says.
    unsafe fn new(
        clouds: [&'a farpoint_points; 2],
        options: *const farpoint_run_options,
    ) -> Result<Self, Failure> {
        // SAFETY: by this function's contract.
        Ok(Self { run: unsafe { run(options) }?, clouds })
    }

    /// Reads the clouds, which must be of the precision of the result.
    ///
    /// # Safety
    /// Same as `farpoint_points::read`.
    unsafe fn read<T: Number>(&self) -> Result<[InputPoints<'a, T>; 2], Failure> {
        let [a, b] = self.clouds;
        let of_found = Precision::of_type::<T>();
        of_found.expect(a.precision()?, "the first cloud")?;
        of_found.expect(b.precision()?, "the second cloud")?;
        // SAFETY: by this function's contract.
        let (a, b) = unsafe { (a.read(), b.read()) };
        let in_pair = |which: &'static str| move |failure: Failure| failure.in_pair(which);
        Ok([a.map_err(in_pair("first"))?, b.map_err(in_pair("second"))?])
    }
}

/// Returns a result that C holds.
///
/// # Safety
/// NULL, or a result that is not freed for as long as `'a`.
unsafe fn found<'a, R>(found: *const R) -> Result<&'a R, Failure> {
    // SAFETY: by this function's contract.
    unsafe { found.as_ref() }.ok_or_else(|| invalid("found is NULL; pass the result of the search"))
}

/// Returns `count` gradients of distances; zeros for NULL.
///
/// # Safety
/// NULL, or `count` numbers that nobody writes for as long as `'a`.
unsafe fn numbers<'a, T: Number>(
    gradients: *const c_void,
    count: usize,
    argument: &str,
) -> Result<Cow<'a, [T]>, Failure> {
    if gradients.is_null() {
        return Ok(Cow::Owned(memory::filled(count, T::ZERO)));
    }
    // SAFETY: by this function's contract.
    unsafe { list(gradients.cast(), count, argument) }.map(Cow::Borrowed)
}

/// # Safety
/// Same as `farpoint_chamfer_backward`.
unsafe fn chamfer(
    result: *const farpoint_chamfer_result,
    clouds: [&farpoint_points; 2],
    gradients: [*const c_void; 2],
    options: *const farpoint_run_options,
) -> Result<farpoint_gradients_result, Failure> {
    /// # Safety
    /// Same as `farpoint_chamfer_backward`.
    unsafe fn of<T: Number>(
        found: &Chamfer<T>,
        input: &Clouds<'_>,
        [grad_a, grad_b]: [*const c_void; 2],
    ) -> Result<Gradients<T>, Failure> {
        // SAFETY: by this function's contract: a number for each row.
        let ([a, b], grad_a, grad_b) = unsafe {
            let clouds = input.read::<T>()?;
            let grad_a = numbers(grad_a, found.a_to_b.len(), "grad_a")?;
            (clouds, grad_a, numbers(grad_b, found.b_to_a.len(), "grad_b")?)
        };
        let gradients: [&[T]; 2] = [&grad_a, &grad_b];
        on_place!(&input.run.place, device => device.backward(found, &a, &b, gradients))
    }
    // SAFETY: by this function's contract.
    let gradients = unsafe {
        let input = Clouds::new(clouds, options)?;
        in_its_precision!(found(result)?.found(), found => of(found, &input, gradients)?)
    };
    Ok(farpoint_gradients_result(gradients))
}

/// # Safety
/// Same as `farpoint_search_backward`.
unsafe fn search(
    result: *const farpoint_neighbors_result,
    clouds: [&farpoint_points; 2],
    gradients: *const c_void,
    options: *const farpoint_run_options,
) -> Result<farpoint_gradients_result, Failure> {
    /// # Safety
    /// Same as `farpoint_search_backward`.
    unsafe fn of<T: Number>(
        found: &Neighbors<T>,
        input: &Clouds<'_>,
        gradients: *const c_void,
    ) -> Result<Gradients<T>, Failure> {
        // SAFETY: by this function's contract: a number for each neighbor.
        let ([x, y], gradients) =
            unsafe { (input.read::<T>()?, numbers(gradients, found.all_indices.len(), "grad")?) };
        let cpu = input.run.cpu("gradients of several neighbors are computed")?;
        Ok(Searcher::nearest(1).on(&cpu).search_backward(found, &x, &y, &gradients)?)
    }
    // SAFETY: by this function's contract.
    let gradients = unsafe {
        let input = Clouds::new(clouds, options)?;
        in_its_precision!(&found(result)?.0, found => of(found, &input, gradients)?)
    };
    Ok(farpoint_gradients_result(gradients))
}

/// # Safety
/// Same as `farpoint_within_backward`.
unsafe fn within(
    result: *const farpoint_within_result,
    clouds: [&farpoint_points; 2],
    gradients: *const c_void,
    options: *const farpoint_run_options,
) -> Result<farpoint_gradients_result, Failure> {
    /// # Safety
    /// Same as `farpoint_within_backward`.
    unsafe fn of<T: Number>(
        found: &WithinBall<T>,
        input: &Clouds<'_>,
        gradients: *const c_void,
    ) -> Result<Gradients<T>, Failure> {
        // SAFETY: by this function's contract: a number for each neighbor.
        let ([x, y], gradients) =
            unsafe { (input.read::<T>()?, numbers(gradients, found.indices.len(), "grad")?) };
        let cpu = input.run.cpu("gradients of several neighbors are computed")?;
        Ok(Searcher::nearest(1).on(&cpu).within_backward(found, &x, &y, &gradients)?)
    }
    // SAFETY: by this function's contract.
    let gradients = unsafe {
        let input = Clouds::new(clouds, options)?;
        in_its_precision!(&found(result)?.0, found => of(found, &input, gradients)?)
    };
    Ok(farpoint_gradients_result(gradients))
}
