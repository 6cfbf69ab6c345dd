import type { TemplateComponent } from '../simulated-template.ts'
import { type Body, invalidParameter, isObject } from './graph-error.ts'

/** The platform's fixed texts, in some of its languages. */
const texts = {
  en: {
    body: '*{{1}}* is your verification code.',
    note: 'For your security, do not share this code.',
    footer: (minutes: number) => `This code expires in ${minutes} minutes.`,
    copy: 'Copy code',
    autofill: 'Autofill',
  },
  es: {
    body: 'Tu código de verificación es *{{1}}*.',
    note: 'Por tu seguridad, no lo compartas.',
    footer: (minutes: number) => `Este código caduca en ${minutes} minutos.`,
    copy: 'Copiar código',
    autofill: 'Autocompletar',
  },
  pt: {
    body: '*{{1}}* é o seu código de verificação.',
    note: 'Para sua segurança, não compartilhe este código.',
    footer: (minutes: number) => `Este código expira em ${minutes} minutos.`,
    copy: 'Copiar código',
    autofill: 'Preencher',
  },
}

const maxApps = 5
const maxLabel = 25
const sample = '123456'

/**
 * Returns the components of a template for authentication as the platform stores them: with its own texts, and with a
 * link for the button of the code. Throws the platform's error for what it refuses.
 */
export function checkCodeParts(value: unknown, language: string): TemplateComponent[] {
  if (!Array.isArray(value) || !value.every(isObject)) throw invalidParameter('The parameter components is required.')
  const partOf = (type: string): Body | undefined => value.find((part) => String(part.type).toUpperCase() === type)
  const [body, footer, buttons] = [partOf('BODY'), partOf('FOOTER'), partOf('BUTTONS')]
  const known = [body, footer, buttons].filter((part) => part !== undefined)
  if (body === undefined || buttons === undefined || known.length !== value.length) {
    throw invalidParameter('Templates of the category AUTHENTICATION have a BODY, BUTTONS and optionally a FOOTER.')
  }
  if (body.text !== undefined || footer?.text !== undefined) {
    throw invalidParameter('The text of templates of the category AUTHENTICATION cannot be changed.')
  }
  const own = { ...texts.en, ...(texts as Record<string, typeof texts.en>)[language.slice(0, 2)] }
  const hasNote = body.add_security_recommendation === true
  const minutes = footer === undefined ? null : checkMinutes(footer.code_expiration_minutes)
  return [
    {
      type: 'BODY',
      text: hasNote ? `${own.body} ${own.note}` : own.body,
      add_security_recommendation: hasNote,
      example: { body_text: [[sample]] },
    },
    ...(minutes === null
      ? []
      : [{ type: 'FOOTER' as const, text: own.footer(minutes), code_expiration_minutes: minutes }]),
    { type: 'BUTTONS', buttons: [checkButton(buttons.buttons, own, minutes)] },
  ]
}

function checkMinutes(minutes: unknown): number {
  if (typeof minutes === 'number' && Number.isInteger(minutes) && minutes >= 1 && minutes <= 90) return minutes
  throw invalidParameter('Param code_expiration_minutes must be from 1 to 90.')
}

function checkButton(value: unknown, own: { copy: string; autofill: string }, minutes: number | null) {
  const [button, ...others] = Array.isArray(value) ? value : []
  if (!isObject(button) || others.length > 0 || String(button.type).toUpperCase() !== 'OTP') {
    throw invalidParameter('Templates of the category AUTHENTICATION have one button of the type OTP.')
  }
  const kind = String(button.otp_type).toUpperCase()
  if (kind !== 'COPY_CODE' && kind !== 'ONE_TAP' && kind !== 'ZERO_TAP') {
    throw invalidParameter('Param otp_type must be one of {COPY_CODE, ONE_TAP, ZERO_TAP}')
  }
  if (kind === 'ZERO_TAP' && button.zero_tap_terms_accepted !== true) {
    throw invalidParameter('The terms of zero-tap must be accepted: zero_tap_terms_accepted.')
  }
  const text = labelOf(button.text, own.copy)
  const query = new URLSearchParams({ otp_type: kind })
  if (kind !== 'COPY_CODE') {
    query.set('cta_display_name', labelOf(button.autofill_text, own.autofill))
    for (const [name, one] of checkApps(button.supported_apps)) query.append(name, one)
  }
  if (minutes !== null) query.set('code_expiration_minutes', String(minutes))
  const link = `https://www.whatsapp.com/otp/code/?${query}&code=otp`
  return { type: 'URL' as const, text, url: `${link}{{1}}`, example: [`${link}${sample}`] }
}

function labelOf(text: unknown, standard: string): string {
  if (text === undefined) return standard
  if (typeof text === 'string' && text.trim() !== '' && [...text].length <= maxLabel) return text
  throw invalidParameter(`The text of a button can have at most ${maxLabel} characters.`)
}

function checkApps(value: unknown): [string, string][] {
  const apps = Array.isArray(value) ? value.filter(isObject) : []
  if (apps.length === 0 || apps.length > maxApps) throw invalidParameter('Param supported_apps must have 1 to 5 apps.')
  return apps.flatMap(({ package_name: name, signature_hash: hash }): [string, string][] => {
    if (typeof name !== 'string' || name.length > 224 || !/^[a-z]\w*(\.[a-z]\w*)+$/i.test(name)) {
      throw invalidParameter('Param package_name is not the name of an Android package.')
    }
    if (typeof hash !== 'string' || !/^[a-z0-9+/=]{11}$/i.test(hash)) {
      throw invalidParameter('Param signature_hash must have exactly 11 characters.')
    }
    return [
      ['package_name', name],
      ['signature_hash', hash],
    ]
  })
}
