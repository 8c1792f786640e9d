"""Windows over images that convolutions and planes are tested on."""

from whorl.kernels.windows import WindowAxis

CHANNELS = 3
LAYOUTS = {
    "padded": [WindowAxis(9, 3, 1, 1, 1, 9), WindowAxis(21, 3, 1, 1, 1, 21)],
    "strided": [WindowAxis(9, 3, 2, 1, 1, 5), WindowAxis(40, 2, 2, 1, 0, 20)],
    "far": [WindowAxis(9, 2, 3, 2, 2, 4), WindowAxis(11, 3, 3, 3, 1, 2)],
    "deep": [WindowAxis(4, 2, 1, 1, 1, 5), WindowAxis(5, 3, 1, 1, 1, 5), WindowAxis(6, 2, 2, 1, 0, 3)],
    "one row": [WindowAxis(300, 1, 1, 1, 0, 300)],
    "without gaps": [WindowAxis(7, 1, 1, 1, 0, 7), WindowAxis(20, 1, 1, 1, 0, 20)],
}
