/**
 * The import cycles of a graph, each once, as the paths along it, starting with the alphabetically first.
 * Takes one cycle of each knot (strongly connected component): break it and look again.
 */
export function findCycles(graph: ReadonlyMap<string, readonly string[]>): string[][] {
  return knots(graph).map((knot) => cycleWithin(graph, knot));
}

/** Tarjan's components of more than one file, or of one file that imports itself. */
function knots(graph: ReadonlyMap<string, readonly string[]>): string[][] {
  const index = new Map<string, number>();
  const low = new Map<string, number>();
  const stack: string[] = [];
  const found: string[][] = [];
  const visit = (path: string): void => {
    index.set(path, index.size);
    low.set(path, index.get(path) ?? 0);
    stack.push(path);
    for (const next of graph.get(path) ?? []) {
      if (!index.has(next)) {
        visit(next);
        low.set(path, Math.min(low.get(path) ?? 0, low.get(next) ?? 0));
      } else if (stack.includes(next)) low.set(path, Math.min(low.get(path) ?? 0, index.get(next) ?? 0));
    }
    if (low.get(path) !== index.get(path)) return;
    const knot = stack.splice(stack.indexOf(path));
    if (knot.length > 1 || graph.get(path)?.includes(path)) found.push(knot.sort());
  };
  for (const path of graph.keys()) if (!index.has(path)) visit(path);
  return found;
}

/** A shortest way from the first file of the knot back to itself. */
function cycleWithin(graph: ReadonlyMap<string, readonly string[]>, knot: readonly string[]): string[] {
  const [first = ''] = knot;
  const inside = new Set(knot);
  const ways: string[][] = [[first]];
  const seen = new Set<string>();
  for (let way = ways.shift(); way !== undefined; way = ways.shift()) {
    for (const next of graph.get(way.at(-1) ?? '') ?? []) {
      if (next === first) return way;
      if (!inside.has(next) || seen.has(next)) continue;
      seen.add(next);
      ways.push([...way, next]);
    }
  }
  return [...knot];
}
