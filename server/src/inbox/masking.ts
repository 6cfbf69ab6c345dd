import { maskPhone } from '../base/phone.ts'

const invisible = /[\p{Cf}\s]/gu
const phoneText = /^\+?[\d.()/\p{Pd}−]+$/u
const numberRun = /\+?\d(?:[\s.()/-]{0,2}\d){7,19}/g
const minDigits = 8

/** What a masked reader sees of the customer. A name that shows the number is no name. */
export function maskContact<C extends { name: string | null; phone: string | null }>(contact: C): C {
  const { name, phone } = contact
  return {
    ...contact,
    name: name === null ? null : maskName(name, phone),
    phone: phone === null ? null : maskPhone(phone),
  }
}

function maskName(name: string, phone: string | null): string {
  const digits = name.normalize('NFKC').replace(/\D/g, '')
  const isNumber = phoneText.test(name.normalize('NFKC').replace(invisible, '')) && digits.length >= minDigits
  if (isNumber) return maskPhone(digits)
  // The last eight digits of a number tell it to anyone who knows the country.
  const tail = phone?.slice(-minDigits)
  return tail !== undefined && tail.length === minDigits && digits.includes(tail) ? name.replace(/\p{Nd}/gu, '*') : name
}

/** The platform's notices name numbers in running text: "… changed from … to …". */
export function maskNumbersIn(text: string): string {
  return text.replace(numberRun, (run) => maskPhone(run.replace(/\D/g, '')))
}
