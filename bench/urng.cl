#define TABLE 16

int next(int state) {
    int high = state / 127773;
    state = 16807 * (state - high * 127773) - 2836 * high;
    return state < 0 ? state + 2147483647 : state;
}

float random_number(int state, __local int *table) {
    for (int j = TABLE; j >= 0; j--) {
        state = next(state);
        if (j < TABLE)
            table[j] = state;
    }
    return table[table[0] / (1 + 2147483646 / TABLE)] * (1.0f / 2147483647.0f);
}

uchar moved(uchar value, float by) { return (uchar)(fmin(fmax(value + by, 0.0f), 255.0f)); }

__kernel void noise(__global const uchar4 *in, __global uchar4 *out) {
    __local int tables[64 * TABLE];
    int i = get_global_id(0);
    uchar4 pixel = in[i];
    int state = 1 + pixel.x + pixel.y + pixel.z + pixel.w + 1024 * i;
    float by = (random_number(state, tables + get_local_id(0) * TABLE) - 0.55f) * 30;
    out[i] = (uchar4)(moved(pixel.x, by), moved(pixel.y, by), moved(pixel.z, by), moved(pixel.w, by));
}
