/**
 * The exponent e of the power law y = c · x^e that fits best: 0 is flat, 1 linear, 2 quadratic.
 *
 * @param {{ x: number, y: number }[]} points
 */
export function fittedExponent(points) {
  const logs = points.map(({ x, y }) => ({ x: Math.log(x), y: Math.log(y) }));
  const meanX = mean(logs.map(({ x }) => x));
  const meanY = mean(logs.map(({ y }) => y));
  const covariance = mean(logs.map(({ x, y }) => (x - meanX) * (y - meanY)));
  return covariance / mean(logs.map(({ x }) => (x - meanX) ** 2));
}

function mean(numbers) {
  return numbers.reduce((sum, number) => sum + number, 0) / numbers.length;
}
