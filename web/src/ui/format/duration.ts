/** Formats a duration in seconds, minutes, hours or days, with one decimal below ten hours. */
export function formatDuration(seconds: number, language: string): string {
  const [value, unit, digits] = inUnit(seconds)
  return new Intl.NumberFormat(language, {
    style: 'unit',
    unit,
    unitDisplay: 'short',
    maximumFractionDigits: digits,
  }).format(value)
}

function inUnit(seconds: number): [value: number, unit: string, digits: number] {
  if (seconds < 59.5) return [seconds, 'second', 0]
  const minutes = seconds / 60
  if (minutes < 59.5) return [minutes, 'minute', 0]
  const hours = minutes / 60
  if (hours < 23.95) return [hours, 'hour', hours < 9.95 ? 1 : 0]
  return [hours / 24, 'day', 1]
}

/** Returns the seconds of the unit for the longest duration, so that chart ticks are round numbers of it. */
export const unitOf = (longest: number): number => [86_400, 3600, 60].find((unit) => longest >= unit) ?? 1
