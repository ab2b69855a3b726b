const PERCENTILE = 90;
/** Values that are sorted, merged or added at once. */
export const STEP_VALUES = 65_536;

/** A step without a result, after which other work may be done. */
export type Step = undefined;

/** The numbers of a timer by their suffixes, exactly as all values in ascending order give them. Many values take many steps. */
export function* timerNumbers(values: readonly number[], elapsedS: number): Generator<Step, [string, number][]> {
  const ascending = yield* sorted(values);
  const count = ascending.length;
  const sums = yield* sumsOf(ascending);
  const mean = count === 0 ? 0 : sums.sum / count;
  const squares = yield* squaresAround(mean, ascending);
  const numbers: [string, number][] = [
    ['min', ascending[0] ?? 0],
    ['max', ascending[count - 1] ?? 0],
    ['count', count],
    ['per_second', count / elapsedS],
    ['mean', mean],
    ['median', ((ascending[(count - 1) >> 1] ?? 0) + (ascending[count >> 1] ?? 0)) / 2],
    ['stddev', count === 0 ? 0 : Math.sqrt(squares / count)],
    ['sum', sums.sum],
    ['sum_squares', sums.squares],
  ];
  const kept = count === 1 ? 1 : Math.floor((PERCENTILE / 100) * count + 0.5);
  if (kept === 0) return numbers;
  const lower = yield* sumsOf(ascending.subarray(0, kept));
  return [
    ...numbers,
    [`percentile_count_${PERCENTILE}`, kept],
    [`percentile_mean_${PERCENTILE}`, lower.sum / kept],
    [`percentile_sum_${PERCENTILE}`, lower.sum],
    [`percentile_sum_squares_${PERCENTILE}`, lower.squares],
    [`percentile_upper_${PERCENTILE}`, ascending[kept - 1] ?? 0],
  ];
}

/** Sorts parts of the values, and merges these in pairs. */
function* sorted(values: readonly number[]): Generator<Step, Float64Array> {
  let from = new Float64Array(values.length);
  for (let start = 0; start < values.length; start += STEP_VALUES) {
    if (start > 0) yield;
    const part = from.subarray(start, start + STEP_VALUES);
    part.set(values.slice(start, start + STEP_VALUES));
    part.sort();
  }
  for (let width = STEP_VALUES; width < from.length; width *= 2) {
    const to = new Float64Array(from.length);
    for (let start = 0; start < from.length; start += 2 * width) {
      yield* merge(
        from.subarray(start, start + width),
        from.subarray(start + width, start + 2 * width),
        to.subarray(start),
      );
    }
    from = to;
  }
  return from;
}

function* merge(one: Float64Array, other: Float64Array, to: Float64Array): Generator<Step, void> {
  let [taken, takenOfOther] = [0, 0];
  for (let index = 0; index < one.length + other.length; index += 1) {
    if (index % STEP_VALUES === 0) yield;
    const left = one[taken] ?? Infinity;
    const right = other[takenOfOther] ?? Infinity;
    const isOther = taken >= one.length || (takenOfOther < other.length && right < left);
    to[index] = isOther ? right : left;
    if (isOther) takenOfOther += 1;
    else taken += 1;
  }
}

function* sumsOf(values: Float64Array): Generator<Step, { sum: number; squares: number }> {
  let [sum, squares] = [0, 0];
  for (let start = 0; start < values.length; start += STEP_VALUES) {
    if (start > 0) yield;
    for (const value of values.subarray(start, start + STEP_VALUES)) {
      sum += value;
      squares += value * value;
    }
  }
  return { sum, squares };
}

function* squaresAround(mean: number, values: Float64Array): Generator<Step, number> {
  let squares = 0;
  for (let start = 0; start < values.length; start += STEP_VALUES) {
    if (start > 0) yield;
    for (const value of values.subarray(start, start + STEP_VALUES)) squares += (value - mean) ** 2;
  }
  return squares;
}
