float normal(float d) {
    float k = 1.0f / (1.0f + 0.2316419f * fabs(d));
    float tail = 0.39894228f * exp(-0.5f * d * d) *
                 (k * (0.31938153f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f)))));
    return d > 0 ? 1.0f - tail : tail;
}

float price(float stock, float strike, float years) {
    const float rate = 0.02f, volatility = 0.3f;
    float root = sqrt(years);
    float d1 = (log(stock / strike) + (rate + 0.5f * volatility * volatility) * years) / (volatility * root);
    return stock * normal(d1) - strike * exp(-rate * years) * normal(d1 - volatility * root);
}

__kernel void prices(__global const float *stock, __global const float *strike, __global const float *years,
                     __global float *out, int n) {
    int i = get_global_id(0);
    if (i < n)
        out[i] = price(stock[i], strike[i], years[i]);
}
