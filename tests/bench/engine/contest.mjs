/**
 * Measures sides in turn (A B A B ...), so that a busy moment of the machine hits all of them, and keeps the best of each.
 *
 * A side is { name, ours, run(): Promise<{ [metric]: unitsPerSecond }> }; it may name a setting of a metric as
 * `run() -> { [metric]: { value, setting } }`. A side that fails is left out of the following rounds and reported.
 */
export async function contest(sides, { rounds, log }) {
  const best = {};
  const failures = {};
  for (let round = 1; round <= rounds; round++)
    for (const side of sides) {
      if (failures[side.name]) continue;
      log(`round ${round}/${rounds}: ${side.name}`);
      let measured;
      try {
        measured = await side.run();
      } catch (error) {
        failures[side.name] = error.message;
        log(`${side.name} failed: ${error.message}`);
        continue;
      }
      for (const [metric, entry] of Object.entries(measured)) {
        const { value, setting } = typeof entry === 'number' ? { value: entry } : entry;
        const by = setting ? `${side.name}, ${setting}` : side.name;
        best[metric] ??= { ours: null, peer: null, all: {} };
        const held = best[metric];
        held.all[by] = Math.max(held.all[by] ?? 0, value);
        const who = side.ours ? 'ours' : 'peer';
        if (!held[who] || held[who].value < value) held[who] = { value, by };
      }
    }
  return { best, failures };
}
