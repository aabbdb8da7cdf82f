/** The limits of exponents for times that must not grow and for times that may only grow linearly. */
export const FLAT = 0.1;
export const LINEAR = 1.15;
