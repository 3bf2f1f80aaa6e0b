// The message for a field that the API does not know, with the name that was most likely meant.
import type {FieldError} from '../errors.js';

/** At most this many letters inserted, dropped, replaced or swapped: more is another word. */
const MAX_DISTANCE = 2;

/** The problem of an unknown field. `known` are the names that would be right at this place. */
export function unknownField(path: string, name: string, known: readonly string[]): FieldError {
  const near = nearestName(name, known);
  return {
    type: 'FieldUnknown',
    path,
    detail: `unknown field ${JSON.stringify(name)}${near === undefined ? '' : `, did you mean ${JSON.stringify(near)}?`}`,
  };
}

/** The known name that differs least, or undefined if none is near. Equal but for upper and lower case counts as nearest. */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  const sameLetters = known.find(candidate => candidate.toLowerCase() === name.toLowerCase());
  if (sameLetters !== undefined) return sameLetters;
  const limit = name.length <= 3 ? 1 : MAX_DISTANCE;
  let best: string | undefined;
  let bestDistance = limit + 1;
  for (const candidate of known) {
    if (Math.abs(candidate.length - name.length) > limit) continue;
    const distance = editDistance(name, candidate);
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

/** Letters inserted, dropped, replaced or swapped with their neighbour (optimal string alignment). */
function editDistance(a: string, b: string): number {
  let twoAbove: number[] = [];
  let above = Array.from({length: b.length + 1}, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const same = a[row - 1] === b[column - 1];
      const swapped = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      current[column] = Math.min(
        (above[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (above[column - 1] ?? 0) + (same ? 0 : 1),
        swapped ? (twoAbove[column - 2] ?? 0) + 1 : Infinity,
      );
    }
    twoAbove = above;
    above = current;
  }
  return above[b.length] ?? 0;
}
