/** A class that replayed failures come back as. The error classes among its static members count too. */
export type ErrorClass = abstract new (...args: any[]) => object;
