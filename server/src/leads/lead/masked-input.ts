import { maskPhone } from '../../base/phone/phone.ts'

/** Whether the text is what `maskPhone` makes of some phone. */
export function isPhoneMask(text: string): boolean {
  return /^(?:\d{5})?\*+\d{3}$/.test(text)
}

/**
 * A caller who sees phones masked can send back a lead as it was read: the mask of the stored phone is no change, and
 * any other mask is no phone.
 */
export function isMaskOfOther(mask: string, phone: string | null): boolean {
  return phone === null || maskPhone(phone) !== mask
}
