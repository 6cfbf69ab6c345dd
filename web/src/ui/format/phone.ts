// Calling codes have one, two or three digits; those with one or two are listed.
const ofTwo = new Set(
  '20 27 30 31 32 33 34 36 39 40 41 43 44 45 46 47 48 49 51 52 53 54 55 56 57 58 60 61 62 63 64 65 66 81 82 84 86 90 91 92 93 94 95 98'.split(
    ' ',
  ),
)

/** Returns a number with country code for dialing and copying: `+5511955501101`. Other text is unchanged. */
export const dialablePhone = (phone: string): string => (/^[1-9]\d*$/.test(phone) ? `+${phone}` : phone)

/** Formats a number for reading: `+55 11 95550-1101`. Other text is unchanged. */
export function formatPhone(number: string): string {
  const phone = /^\+\d+$/.test(number) ? number.slice(1) : number
  if (!/^[1-9]\d{7,14}$/.test(phone)) return dialablePhone(number)
  const code = /^[17]/.test(phone) ? 1 : ofTwo.has(phone.slice(0, 2)) ? 2 : 3
  const [country, rest] = [phone.slice(0, code), phone.slice(code)]
  return `+${country} ${grouped(country, rest)}`
}

function grouped(country: string, rest: string): string {
  if (country === '55' && rest.length >= 10 && rest.length <= 11) {
    return `${rest.slice(0, 2)} ${rest.slice(2, -4)}-${rest.slice(-4)}`
  }
  if (country === '1' && rest.length === 10) return `${rest.slice(0, 3)} ${rest.slice(3, 6)}-${rest.slice(6)}`
  // Groups of three, never with a single digit at the end.
  const groups = rest.match(/\d{1,3}/g) ?? []
  const last = groups.at(-1)
  if (last !== undefined && last.length === 1 && groups.length > 1) {
    groups.splice(-2, 2, `${groups.at(-2)}${last}`)
  }
  return groups.join(' ')
}
