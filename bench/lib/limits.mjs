/** Exponents above which a time that must not grow does, and one that may only grow linearly does more. */
export const FLAT = 0.1;
export const LINEAR = 1.15;
