import type { TemplateContent } from '../data/team/templates.ts'
import type { ShownTemplate } from './PhonePreview.tsx'

export type TemplateOtp = NonNullable<TemplateContent['otp']>

export const emptyOtp: TemplateOtp = {
  type: 'copy_code',
  hasSecurityNote: true,
  expiresInMinutes: 10,
  buttonText: '',
  autofillText: '',
  apps: [],
  acceptsTerms: false,
}

const sampleCode = '123456'

/** What the platform writes itself, in the languages of the app. */
const texts = {
  en: {
    body: (code: string) => `${code} is your verification code.`,
    note: 'For your security, do not share this code.',
    footer: (minutes: number) => `This code expires in ${minutes} minutes.`,
    copy: 'Copy code',
    autofill: 'Autofill',
  },
  es: {
    body: (code: string) => `Tu código de verificación es ${code}.`,
    note: 'Por tu seguridad, no lo compartas.',
    footer: (minutes: number) => `Este código caduca en ${minutes} minutos.`,
    copy: 'Copiar código',
    autofill: 'Autocompletar',
  },
  pt: {
    body: (code: string) => `${code} é o seu código de verificação.`,
    note: 'Para sua segurança, não compartilhe este código.',
    footer: (minutes: number) => `Este código expira em ${minutes} minutos.`,
    copy: 'Copiar código',
    autofill: 'Preencher',
  },
}

/** Returns what customers see of a template for authentication; in English for a language that is not known here. */
export function shownCode({ language, otp = emptyOtp }: Pick<TemplateContent, 'language' | 'otp'>): ShownTemplate {
  const { type, hasSecurityNote, expiresInMinutes, buttonText, autofillText } = otp
  const known: Record<string, typeof texts.en> = texts
  const own = known[language.slice(0, 2)] ?? texts.en
  const label = type === 'copy_code' ? buttonText.trim() || own.copy : autofillText.trim() || own.autofill
  return {
    header: { type: 'none', text: '' },
    body: `${own.body(`*${sampleCode}*`)}${hasSecurityNote ? ` ${own.note}` : ''}`,
    footer: expiresInMinutes === null ? '' : own.footer(expiresInMinutes),
    // Of a code without a tap, phones show the text alone.
    buttons: type === 'zero_tap' ? [] : [{ type: 'copy_code', text: label }],
  }
}
