uchar edge(int a, int b, int c, int d, int f, int g, int h, int i) {
    int across = c + 2 * f + i - a - 2 * d - g, down = g + 2 * h + i - a - 2 * b - c;
    return (uchar)(fmin(sqrt((float)(across * across + down * down)) * 0.5f, 255.0f));
}

__kernel void sobel(__global const uchar4 *in, __global uchar4 *out, int width, int height) {
    int x = get_global_id(0), y = get_global_id(1);
    if (x < 1 || y < 1 || x >= width - 1 || y >= height - 1)
        return;
    __global const uchar4 *up = in + (y - 1) * width + x, *row = up + width, *down = row + width;
    uchar4 a = up[-1], b = up[0], c = up[1], d = row[-1], f = row[1], g = down[-1], h = down[0], i = down[1];
    out[y * width + x] = (uchar4)(
        edge(a.x, b.x, c.x, d.x, f.x, g.x, h.x, i.x), edge(a.y, b.y, c.y, d.y, f.y, g.y, h.y, i.y),
        edge(a.z, b.z, c.z, d.z, f.z, g.z, h.z, i.z), edge(a.w, b.w, c.w, d.w, f.w, g.w, h.w, i.w));
}
