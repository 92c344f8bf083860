int steps(float cx, float cy) {
    float x = 0, y = 0;
    int n = 0;
    while (n < 256 && x * x + y * y < 4) {
        float next = x * x - y * y + cx;
        y = 2 * x * y + cy;
        x = next;
        n++;
    }
    return n;
}

__kernel void mandelbrot(__global int *out, int width, int height) {
    int x = get_global_id(0), y = get_global_id(1);
    if (x < width && y < height)
        out[y * width + x] = steps(-2 + 3.0f * x / width, -1.5f + 3.0f * y / height);
}
