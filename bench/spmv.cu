#include "bench.h"

#if defined(__CUDACC__)

__global__ void multiply(const int *starts, const int *columns, const float *values, const float *x, float *y, int rows) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;
    float sum = 0;
    for (int i = starts[row]; i < starts[row + 1]; i++)
        sum += values[i] * x[columns[i]];
    y[row] = sum;
}

#elif !defined(OPENCL)

static void multiply(Block block, const int *starts, const int *columns, const float *values, const float *x, float *y,
                     int rows) {
    for (int row = block.x * 128; row < std::min(block.x * 128 + 128, rows); row++) {
        float sum = 0;
        for (int i = starts[row]; i < starts[row + 1]; i++)
            sum += values[i] * x[columns[i]];
        y[row] = sum;
    }
}

#endif

int main() {
    const int rows = 1 << 15;
    std::vector<int> starts(1), columns;
    for (int row = 0; row < rows; row++) {
        int count = 1 + int(31 * number(row));
        for (int i = 0; i < count; i++)
            columns.push_back(int(number(row * 37 + i) * (rows - 1)));
        starts.push_back(int(columns.size()));
    }
    auto values = numbers(columns.size(), 5), x = numbers(rows, 9);
    std::vector<double> expected(rows);
    for (int row = 0; row < rows; row++)
        for (int i = starts[row]; i < starts[row + 1]; i++)
            expected[row] += double(values[i]) * x[columns[i]];
    Buffer<int> device_starts(starts), device_columns(columns);
    Buffer<float> device_values(values), device_x(x), y(rows);
    measure([&] {},
            [&] { LAUNCH(multiply, rows / 128, 128, device_starts, device_columns, device_values, device_x, y, rows); },
            [&] { expect("rows", y.read(), expected, 1e-5); });
}
