//! Types of messages with clouds that can be sampled, and advice for the others.

use super::wire::Encoding;

/// Content of a topic, as far as clouds are concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `sensor_msgs/PointCloud2` in an encoding that is read.
    Cloud(Encoding),
    /// Clouds in a form that is not read: its name, and what to do about it.
    Refused(&'static str, &'static str),
    /// Something else.
    Other,
}

/// Returns the kind of a channel with this schema and message encoding.
pub(super) fn classify(schema: &str, encoding: &str) -> Kind {
    let parts: Vec<&str> = schema.split(['/', ':']).filter(|part| !part.is_empty()).collect();
    let package = parts.first().copied().unwrap_or_default();
    // DDS calls the type PointCloud2_.
    let name = parts.last().copied().unwrap_or_default().trim_end_matches('_');
    match (package, name) {
        ("sensor_msgs", "PointCloud2") => match Encoding::of(encoding) {
            Some(encoding) => Kind::Cloud(encoding),
            None => Kind::Refused(
                "PointCloud2 in an encoding that is neither cdr nor ros1",
                "record it by ROS, or convert it",
            ),
        },
        (livox, "CustomMsg") if livox.starts_with("livox") => Kind::Refused(
            "Livox CustomMsg, which is the driver's own format",
            "let the driver send PointCloud2 (xfer_format 0), or convert the bag with \
             livox_to_pointcloud2",
        ),
        (_, "CompressedPointCloud2") => Kind::Refused(
            "compressed clouds (point_cloud_transport)",
            "decompress the topic with 'ros2 run point_cloud_transport republish' while playing it, and \
             record that",
        ),
        ("cloudini_msgs" | "cloudini" | "draco_point_cloud_transport", _) => {
            Kind::Refused("compressed clouds", "decompress the topic with its own tool first")
        }
        ("foxglove", "PointCloud") => Kind::Refused(
            "foxglove.PointCloud, which is not read yet",
            "record sensor_msgs/PointCloud2",
        ),
        ("foxglove.PointCloud", _) => Kind::Refused(
            "foxglove.PointCloud, which is not read yet",
            "record sensor_msgs/PointCloud2",
        ),
        ("sensor_msgs", "PointCloud") => Kind::Refused(
            "sensor_msgs/PointCloud, the form before PointCloud2",
            "convert it with point_cloud_converter while playing it, and record that",
        ),
        ("velodyne_msgs", "VelodyneScan")
        | ("ouster_ros" | "ouster_sensor_msgs", "PacketMsg")
        | ("nebula_msgs" | "hesai_ros_driver", _) => Kind::Refused(
            "packets of a lidar, not clouds",
            "let the sensor's driver turn them into PointCloud2, and record that",
        ),
        _ => Kind::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clouds_of_both_worlds() {
        for name in ["sensor_msgs/PointCloud2", "sensor_msgs/msg/PointCloud2"] {
            assert_eq!(classify(name, "cdr"), Kind::Cloud(Encoding::Cdr), "{name}");
            assert_eq!(classify(name, "ros1"), Kind::Cloud(Encoding::Ros1), "{name}");
            assert!(matches!(classify(name, "json"), Kind::Refused(..)));
        }
        let dds = "sensor_msgs::msg::dds_::PointCloud2_";
        assert_eq!(classify(dds, "cdr"), Kind::Cloud(Encoding::Cdr));
    }

    #[test]
    fn others() {
        for name in [
            "livox_ros_driver2/msg/CustomMsg",
            "point_cloud_interfaces/msg/CompressedPointCloud2",
            "velodyne_msgs/msg/VelodyneScan",
            "foxglove.PointCloud",
        ] {
            assert!(matches!(classify(name, "cdr"), Kind::Refused(..)), "{name}");
        }
        for name in ["sensor_msgs/msg/Imu", "my_msgs/msg/CustomMsg", "", "PointCloud2"] {
            assert_eq!(classify(name, "cdr"), Kind::Other, "{name}");
        }
    }
}
