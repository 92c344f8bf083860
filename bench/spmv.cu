#include "bench.h"

__global__ void multiply(const int *starts, const int *columns, const float *values, const float *x, float *y, int rows) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;
    float sum = 0;
    for (int i = starts[row]; i < starts[row + 1]; i++)
        sum += values[i] * x[columns[i]];
    y[row] = sum;
}

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
    int *ds = to_device(starts), *dc = to_device(columns);
    float *dv = to_device(values), *dx = to_device(x), *dy = to_device(std::vector<float>(rows));
    multiply<<<(rows + 127) / 128, 128>>>(ds, dc, dv, dx, dy, rows);
    auto y = to_host(dy, rows);
    for (int row = 0; row < rows; row += 331) {
        double sum = 0;
        for (int i = starts[row]; i < starts[row + 1]; i++)
            sum += values[i] * x[columns[i]];
        check(near(y[row], sum), "a row");
    }
    measure([&] { multiply<<<(rows + 127) / 128, 128>>>(ds, dc, dv, dx, dy, rows); });
}
