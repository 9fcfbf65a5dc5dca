/** Version of all that decides what goes: detectors, gates, stand-ins. Raised with each change; then older exports are stale. */
export const RULE_SET = '2026.12.1';
