/** Formats a timestamp for `datetime-local`: in the reader's time zone, to the second. */
export function localInput(iso: string): string {
  const at = new Date(iso)
  const two = (value: number) => String(value).padStart(2, '0')
  const date = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`
  return `${date}T${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`
}

/** Formats a time to the minute, for times that people choose. */
export const localMinute = (iso: string): string => localInput(iso).slice(0, 16)

/** Parses such an input to a timestamp; `otherwise` if it is empty or invalid. */
export function readLocalInput(text: string, fallback: string): string {
  const at = new Date(text)
  return Number.isNaN(at.getTime()) ? fallback : at.toISOString()
}

/** Returns the time zones of the browser, and the chosen one. */
export const timeZones = (chosen: string): string[] => [
  ...new Set([...Intl.supportedValuesOf('timeZone'), 'UTC', chosen]),
]
