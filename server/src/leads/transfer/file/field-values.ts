import type { FieldRule, LeadFieldType, NormalizationResult } from '../../fields/lead-fields.ts'
import { choiceSeparator, hasChoices, normalizeValue } from '../../fields/lead-fields.ts'
import { adPlatforms, priorities, sources } from '../../lead/lead.ts'

/** Fields with a fixed set of values, for which values of a file may need a mapping. */
export const choiceFields = ['status', 'priority', 'source', 'adPlatform', 'assignedTo'] as const
export type ChoiceField = (typeof choiceFields)[number]

export const isChoiceField = (field: string): field is ChoiceField =>
  (choiceFields as readonly string[]).includes(field)

/** Mapping from values of the file, by field; null leaves the field out. */
export type ValueMapping = Partial<Record<ChoiceField, Record<string, string | null>>>

/** Mapping from values of the file, by target, for fields that the workspace defines. */
export type FieldValueMapping = Record<string, Record<string, string | null>>

/** Returns the key of a file value in mappings, which ignores case and surrounding spaces. */
export const valueKey = (text: string): string => text.normalize('NFKC').trim().toLowerCase()

/** Returns the allowed values of the field in this workspace; null for member ids. */
export const allowedValues = (field: ChoiceField, statuses: readonly string[]): readonly string[] | null =>
  ({ status: statuses, priority: priorities, source: sources, adPlatform: adPlatforms, assignedTo: null })[field]

/** Returns the value that equals the text, ignoring case and accents: `Em negociação` is `em_negociacao`. */
export function matchValue(text: string, allowed: readonly string[]): string | undefined {
  const folded = fold(text)
  return allowed.find((value) => value === text || (folded !== '' && value === folded))
}

// Common words in English, Portuguese and Spanish, folded by `fold`.
const synonyms: Partial<Record<ChoiceField, Record<string, string>>> = {
  status: {
    new: 'novo nova nuevo nueva open aberto abierto entrada',
    contacted: 'contatado contactado contato_feito em_contato en_contacto contacto contato',
    qualified: 'qualificado calificado cualificado qualificada calificada',
    proposal:
      'proposta propuesta orcamento presupuesto cotizacion proposal_sent proposta_enviada negociacao negociacion',
    won: 'ganho ganha ganado ganada vendido fechado cerrado closed_won venda_ganha venta_ganada',
    lost: 'perdido perdida closed_lost venda_perdida',
    unqualified: 'desqualificado nao_qualificado no_calificado descalificado disqualified descartado',
  },
  priority: {
    low: 'baixa baixo baja bajo',
    medium: 'media medio normal',
    high: 'alta alto',
    urgent: 'urgente critica critico',
  },
  source: {
    website: 'site web sitio sitio_web pagina landing_page formulario',
    chat_app: 'whatsapp chat mensagem mensaje messenger',
    phone: 'telefone telefono ligacao llamada call',
    email: 'e_mail correo correo_electronico mail',
    referral: 'indicacao indicado recomendacao referido recomendacion recomendado',
    social: 'redes_sociais redes_sociales social_media instagram facebook rede_social',
    ads: 'ad anuncio anuncios google_ads facebook_ads meta_ads trafego_pago',
    event: 'evento feira feria',
    other: 'outro outra outros otro otra otros',
  },
  adPlatform: {
    meta: 'facebook instagram meta_ads facebook_ads',
    google: 'google_ads adwords youtube',
    tiktok: 'tik_tok tiktok_ads',
    x: 'twitter',
    chatgpt: 'openai',
    other: 'outro otro outra otra',
  },
}

/** Returns the value that a text probably means, for a person to confirm; null if none fits. */
export function proposeValue(field: ChoiceField, text: string, statuses: readonly string[]): string | null {
  const allowed = allowedValues(field, statuses) ?? []
  const same = matchValue(text, allowed)
  if (same !== undefined) return same
  const folded = fold(text)
  const [mapped] = Object.entries(synonyms[field] ?? {}).find(([, all]) => all.split(' ').includes(folded)) ?? []
  return mapped !== undefined && allowed.includes(mapped) ? mapped : null
}

/** Folds a heading or value: removes case and accents, replaces spaces. `Orçamento enviado` is `orcamento_enviado`. */
export function fold(text: string): string {
  return text
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^_|_$/g, '')
}

/** Decimal separator of amounts in a file. */
export type DecimalSeparator = '.' | ','

const maxAmountLength = 60
// A currency may be before or after the number: `US$`, `€`, `PEN`, `S/`.
const currency = String.raw`(?:[A-Z]{0,3}\p{Sc}|[A-Z]{3}|S/\.?|Bs\.?|Gs\.?|Kz|Kč|kr\.?|zł|lei|Ft|R[Mps]|[LQ])?`
const amountPattern = new RegExp(String.raw`^(-?)${currency}(-?)(\d[\d.,]*)${currency}$`, 'u')

/**
 * Parses an amount in a file: `1500`, `R$ 1.500,50`, `1 500.50`. Does not guess: a single separator followed by three
 * digits, as in `1.500`, needs `decimal`; otherwise returns null, as for text that is not an amount.
 */
export function parseFileAmount(text: string, decimal: DecimalSeparator | null): number | null {
  if (text.length > maxAmountLength) return null
  const [, before = '', after = '', digits = ''] = amountPattern.exec(text.replace(/[\s'’]/g, '')) ?? []
  const amount = parseDigits(digits, decimal)
  if (amount === null) return null
  return `${before}${after}` === '' ? amount : -amount
}

function parseDigits(digits: string, configured: DecimalSeparator | null): number | null {
  const decimal = configured ?? detectDecimal(digits)
  if (decimal === null) return null
  const [whole = '', cents = '', more] = digits.split(decimal)
  const between = decimal === '.' ? ',' : '.'
  const groups = whole.split(between)
  const isGrouped = groups.length === 1 || (/^\d{1,3}$/.test(groups[0] ?? '') && groups.slice(1).every(isThree))
  if (more !== undefined || !isGrouped || !/^\d+$/.test(groups.join('')) || !/^\d*$/.test(cents)) return null
  if (digits.endsWith(decimal)) return null
  return Number(`${groups.join('')}.${cents || '0'}`)
}

const isThree = (group: string): boolean => /^\d{3}$/.test(group)

/** Returns the decimal separator that the number itself shows; null if it is ambiguous. */
function detectDecimal(digits: string): DecimalSeparator | null {
  const signs = [...digits].filter((sign): sign is DecimalSeparator => sign === '.' || sign === ',')
  const last = signs.at(-1)
  if (last === undefined) return '.'
  const other = last === '.' ? ',' : '.'
  if (signs.includes(other)) return last
  // Two of the same separator mark thousands.
  if (signs.length > 1) return other
  return digits.length - digits.indexOf(last) === 4 ? null : last
}

// Folded by `fold`.
const yes = ['true', 'yes', 'y', 'sim', 's', 'si', 'x', '1', 'verdadeiro', 'verdadero']
const no = ['false', 'no', 'n', 'nao', '0', 'falso']

/** Parses the value of a field that the workspace defines; returns it, or what is wrong with it. */
export function parseFieldValue(
  field: FieldRule,
  text: string,
  { decimal, country }: { decimal: DecimalSeparator | null; country: string | null },
): NormalizationResult {
  if (!isNumber(field.type)) {
    const mapped = parseChoices(field, text)
    if (field.type === 'boolean' && typeof mapped === 'string') return { problem: 'must be yes or no' }
    return normalizeValue(field, mapped, country)
  }
  const amount = parseFileAmount(text, decimal)
  if (amount !== null) return normalizeValue(field, String(amount), country)
  if (decimal === null && parseFileAmount(text, '.') !== null) return { problem: ambiguousMessage }
  // Text with a separator is only ever parsed as an amount.
  return normalizeValue(field, /[.,]/.test(text) ? 'none' : text, country)
}

const ambiguousMessage = 'is ambiguous; set the decimal separator'

const isNumber = (type: LeadFieldType): boolean => type === 'number' || type === 'amount'

function parseChoices(field: FieldRule, text: string): string | boolean {
  const { type, choices } = field
  if (type === 'boolean') return yes.includes(fold(text)) ? true : no.includes(fold(text)) ? false : text
  if (!hasChoices(type)) return text
  return splitChoices(field, text)
    .map((part) => matchChoice(choices, part) ?? part)
    .join(choiceSeparator)
}

/** Returns the choices that a cell names: one, or several with separators between them. */
export function splitChoices({ type, choices }: FieldRule, text: string): string[] {
  if (type !== 'multiselect') return [text.trim()]
  return text
    .split(',')
    .flatMap((part) => (choices.includes(part.trim()) ? [part] : part.split(/[;|]/)))
    .map((part) => part.trim())
    .filter((part) => part !== '')
}

/** Returns the choice that equals the text, ignoring case and accents. */
export function matchChoice(choices: readonly string[], text: string): string | undefined {
  const folded = fold(text)
  return choices.find((choice) => choice === text) ?? choices.find((choice) => folded !== '' && fold(choice) === folded)
}

/** Returns the cell with its values mapped; values mapped to null are left out. */
export function mapChoices(
  field: FieldRule,
  text: string,
  meanings: Readonly<Record<string, string | null>> | undefined,
): string {
  if (meanings === undefined || !hasChoices(field.type)) return text
  return splitChoices(field, text)
    .map((part) => {
      const mapped = meanings[valueKey(part)]
      return mapped === undefined ? part : mapped
    })
    .filter((part) => part !== null)
    .join(choiceSeparator)
}
