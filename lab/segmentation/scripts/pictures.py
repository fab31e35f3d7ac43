#!/usr/bin/env python3
"""The pictures of the README.

    python lab/segmentation/scripts/pictures.py scenes -o lab/segmentation/scenes.png
    python lab/segmentation/scripts/pictures.py prediction --room ROOM.ply --turn TURN.ply \\
        -o lab/segmentation/prediction.png

`scenes`: a generated room and a generated turn, what a sensor measures beside the classes. `prediction`: of the PLY files
that `evaluate --predictions` writes, the classes, what a network predicts, and in red where it is wrong. From rooms the
ceiling, beams and the walls in front are left out. Needs Pillow, and matplotlib for its font.
"""

import argparse
import os
import pathlib

import matplotlib
import numpy as np
from PIL import Image, ImageDraw, ImageFont

import farpoint
from farpoint_segmentation.data import Generated
from farpoint_segmentation.recipes import recipe

#: A color for each class, and one for points of none.
ROOM = [
    (200, 200, 200), (120, 144, 156), (222, 205, 160), (240, 150, 30), (150, 60, 200), (90, 180, 255), (140, 90, 50),
    (220, 60, 50), (40, 140, 70), (70, 70, 170), (240, 120, 180), (30, 30, 30), (150, 210, 120), (204, 204, 204),
]
TURN = [
    (40, 90, 230), (0, 190, 190), (130, 60, 200), (90, 20, 120), (120, 120, 255), (255, 40, 40), (255, 60, 180),
    (150, 0, 90), (130, 70, 130), (210, 150, 230), (240, 170, 120), (170, 40, 70), (255, 200, 0), (255, 110, 50),
    (30, 140, 40), (120, 70, 20), (150, 220, 90), (60, 60, 60), (200, 0, 0), (205, 205, 205),
]
INK, GRAY, RED, PAPER = (40, 40, 40), (196, 200, 204), (214, 39, 40), (255, 255, 255)
LINE = 19


def font(size=12):
    return ImageFont.truetype(os.path.join(matplotlib.get_data_path(), "fonts/ttf/DejaVuSans.ttf"), size)


def drawn(points, colors, width, height, eye):
    """Points as dots of 2 x 2 pixels, seen from a direction without perspective, the near ones in front."""
    forward = -np.array(eye, float) / np.linalg.norm(eye)
    right = np.cross(forward, [0, 0, 1])
    right /= np.linalg.norm(right)
    seen = np.c_[points @ right, points @ np.cross(right, forward), points @ forward]
    low, high = seen[:, :2].min(0), seen[:, :2].max(0)
    scale = min(width / (high - low)[0], height / (high - low)[1]) * 0.985
    middle = (low + high) / 2
    x = ((seen[:, 0] - middle[0]) * scale + width / 2).astype(int)
    y = (height / 2 - (seen[:, 1] - middle[1]) * scale).astype(int)
    image = np.full((height, width, 3), PAPER, np.uint8)
    order = np.argsort(-seen[:, 2], kind="stable")
    for right_by in (0, 1):
        for down_by in (0, 1):
            columns = np.clip(x + right_by, 0, width - 1)[order]
            image[np.clip(y + down_by, 0, height - 1)[order], columns] = colors[order]
    return image


def inside(points, labels):
    """Of a room what is not in front of the rest."""
    low, high = points.min(axis=0), points.max(axis=0)
    return (labels != 0) & (labels != 3) & (points[:, 1] > low[1] + 0.3) & (points[:, 0] > low[0] + 0.3) & (
        points[:, 2] < high[2] - 0.75
    )


def near(points, labels):
    """Of a turn what is around the sensor."""
    return (np.abs(points[:, 0]) < 26) & (np.abs(points[:, 1]) < 20)


ROOM_VIEW, TURN_VIEW = (-0.6, -1, 1.0), (-0.5, -1, 0.8)


def picture(rows, titles, width, output):
    """Rows of drawings under their titles, each above the colors of its classes."""
    total_width = width * len(titles)
    placed = [placed_names(names, total_width - 20) for _, names, _ in rows]
    heights = [images[0].shape[0] for images, _, _ in rows]
    sizes = [height + (names[-1][1] + 1) * LINE + 16 for height, names in zip(heights, placed)]
    image = Image.new("RGB", (total_width, LINE + 6 + sum(sizes)), PAPER)
    draw = ImageDraw.Draw(image)
    for place, title in enumerate(titles):
        draw.text((width * place + 10, 3), title, fill=INK, font=font(13))
    top = LINE + 6
    for (images, names, colors), height, size, places in zip(rows, heights, sizes, placed):
        for place, one in enumerate(images):
            image.paste(Image.fromarray(one), (width * place, top))
        for name, color, (x, line) in zip(names, colors, places):
            left, above = 10 + x, top + height + 4 + line * LINE
            draw.rectangle((left, above + 2, left + 12, above + 13), fill=color)
            draw.text((left + 17, above), name, fill=INK, font=font())
        top += size
    image.quantize(96, dither=Image.Dither.NONE).save(output, optimize=True)
    print(output, image.size, f"{os.path.getsize(output):,} bytes")


def placed_names(names, width):
    """Where each name of a legend begins, and in which line."""
    x, line, places = 0, 0, []
    for name in names:
        wide = 32 + font().getlength(name)
        if x + wide > width:
            x, line = 0, line + 1
        places.append((x, line))
        x += wide
    return places


def shown(data):
    """Names and colors of a legend; of rooms without what is left out."""
    names, colors = recipe(data).classes, ROOM if data == "s3dis" else TURN
    if data == "semantickitti":
        return [*names, "no class"], colors
    kept = [k for k, name in enumerate(names) if name not in ("ceiling", "beam")]
    return [names[k] for k in kept], [colors[k] for k in kept]


def scenes(args):
    width, rows = 540, []
    for data, points, seed, keep, eye, height in (
        ("s3dis", 700_000, 12, inside, ROOM_VIEW, 390), ("semantickitti", 120_000, 7, near, TURN_VIEW, 300)
    ):
        source = Generated(recipe(data), "train", seed + 1, points)
        scene = source.read(source.names[seed])
        kept = keep(scene.points, scene.labels)
        sensed = scene.colors if scene.colors is not None else np.clip(
            30 + scene.intensity[:, None] * 260, 0, 235
        ).astype(np.uint8).repeat(3, 1)
        classes = np.array(ROOM if data == "s3dis" else TURN, np.uint8)[scene.labels]
        images = [drawn(scene.points[kept], one[kept], width, height, eye) for one in (sensed, classes)]
        rows.append((images, *shown(data)))
    picture(rows, ["what a sensor measures", "classes"], width, args.output)


def prediction(args):
    width, rows = 400, []
    for data, path, keep, eye, height in (
        ("s3dis", args.room, inside, ROOM_VIEW, 300), ("semantickitti", args.turn, near, TURN_VIEW, 250)
    ):
        cloud = farpoint.read(path)
        points, labels, predicted = np.array(cloud.points), np.array(cloud["label"]), np.array(cloud["prediction"])
        right, counted = labels == predicted, labels >= 0
        print(path, f"{len(points):,} points, {100 * right[counted].mean():.1f} % of those of a class right")
        colors = np.array(ROOM if data == "s3dis" else TURN, np.uint8)
        wrong = np.where((counted & ~right)[:, None], RED, GRAY).astype(np.uint8)
        kept = keep(points, labels)
        images = [
            drawn(points[kept], one[kept], width, height, eye)
            for one in (colors[labels], colors[predicted], wrong)
        ]
        rows.append((images, *shown(data)))
    picture(rows, ["classes", "prediction", "wrong, in red"], width, args.output)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("scenes", "prediction"))
    parser.add_argument("--room", type=pathlib.Path)
    parser.add_argument("--turn", type=pathlib.Path)
    parser.add_argument("-o", "--output", type=pathlib.Path, required=True)
    args = parser.parse_args()
    if args.what == "prediction" and None in (args.room, args.turn):
        parser.error("prediction needs --room and --turn")
    (scenes if args.what == "scenes" else prediction)(args)


if __name__ == "__main__":
    main()
