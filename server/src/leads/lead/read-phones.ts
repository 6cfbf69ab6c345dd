import { isKnownPhone, maxPhoneLength, readPhone } from '../../base/phone/phone.ts'

/**
 * The phones that a text may mean when a lead is looked up, the surest first; none when it is no phone. Answers show
 * phones as bare digits with country code, so such digits mean that phone before they mean a national number.
 */
export function readPhones(text: string, defaultCountry: string | null): string[] {
  if (text.length > maxPhoneLength) return []
  const asStored = /^\d+$/.test(text) ? readPhone(text) : null
  const asWritten = readPhone(text, defaultCountry ?? undefined)
  return [...new Set([asStored, asWritten])].filter((digits) => digits !== null)
}

/** Whether a reference may be or hold a phone: what no numbering plan has is a number of another kind. */
export function holdsPhone(text: string | null | undefined, defaultCountry: string | null): boolean {
  const numbers = [text ?? '', ...(text?.match(numberRun) ?? [])]
  return numbers.some((number) => readPhones(number, defaultCountry).some(isKnownPhone))
}

const numberRun = /\d{8,20}/g
