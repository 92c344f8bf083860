#define STEPS 254
#define STRIKE 50.0f
#define RATE 0.02f
#define VOLATILITY 0.3f

__kernel void prices(__global const float *stock, __global const float *years, __global float *out) {
    __local float even[256], odd[256];
    int thread = get_local_id(0), option = get_group_id(0);
    float step_ = years[option] / STEPS, jump = VOLATILITY * sqrt(step_);
    float up = exp(jump), down = 1 / up, grow = exp(RATE * step_);
    float rise = (grow - down) / (up - down) / grow, fall = 1 / grow - rise;
    even[thread] = fmax(stock[option] * exp(jump * (2 * thread - STEPS)) - STRIKE, 0.0f);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int left = STEPS; left > 0; left -= 2) {
        if (thread < left)
            odd[thread] = rise * even[thread + 1] + fall * even[thread];
        barrier(CLK_LOCAL_MEM_FENCE);
        if (thread < left - 1)
            even[thread] = rise * odd[thread + 1] + fall * odd[thread];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (thread == 0)
        out[option] = even[0];
}
