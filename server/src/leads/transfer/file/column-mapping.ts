import { keyProblem } from '../../lead/custom-fields.ts'
import { type LeadFields, leadFieldNames } from '../../lead/lead.ts'
import { fold } from './field-values.ts'

export type FieldTarget = keyof LeadFields

/** Fields of a lead that a column can fill, identifying fields first. */
export const fieldTargets: readonly FieldTarget[] = [...leadFieldNames.slice(-2), ...leadFieldNames.slice(0, -2)]

export const customPrefix = 'customFieldValues.'

/** Target of a column: a field of the lead, or the key of a custom field. */
export type Target = { field: FieldTarget } | { key: string }

/** Parses a field name, `k_city` or `customFieldValues.city`; null for other text. */
export function parseTarget(text: string): Target | null {
  const field = fieldTargets.find((name) => name === text)
  if (field !== undefined) return { field }
  const key = text.startsWith(customPrefix) ? text.slice(customPrefix.length) : text.startsWith('k_') ? text : ''
  return key !== '' && keyProblem(key) === null ? { key } : null
}

export function targetOfKey(key: string): string {
  return key.startsWith('k_') ? key : customPrefix + key
}

/** Column in the file of rejected rows; ignored by imports. */
export const errorColumn = 'import_error'
// Columns of an export that an import cannot set.
const readOnly = ['id', 'createdAt', 'updatedAt', 'deletedAt', 'moreCustomFields', errorColumn]

// Headings in English, Portuguese and Spanish, folded by `fold`.
const headings: Record<FieldTarget, string> = {
  uniqueCode: 'code leadcode codigo codigounico',
  externalRef: 'externalid externalreference reference ref crmid leadid referencia referenciaexterna idexterno',
  firstName:
    'name fullname firstname givenname contact contactname nome nomecompleto primeironome nombre nombrecompleto contato contacto',
  lastName: 'surname familyname secondname sobrenome apelido apellido apellidos',
  email: 'mail emailaddress correo correoelectronico enderecodeemail',
  phone:
    'phonenumber telephone tel mobile mobilephone cell cellphone whatsapp telefone celular fone numero numerodetelefone telefono movil numerodetelefono',
  status: 'stage leadstatus situacao etapa estado fase',
  priority: 'prioridade prioridad',
  source: 'leadsource origin origem fonte origen fuente',
  adPlatform: 'adnetwork platform plataforma plataformadeanuncio',
  assignedTo: 'owner assignee assigned responsavel vendedor atendente responsable asignadoa',
  estimatedValue: 'value amount dealvalue expectedvalue valor valorestimado montante importe montoestimado monto',
  actualValue: 'closedvalue finalvalue valorfinal valorreal valorfechado montofinal',
  notes:
    'note comments comment remarks description observacoes observacao notas nota comentarios comentario observaciones descripcion descricao',
}
const byHeading = new Map(
  fieldTargets.flatMap((field) => [field.toLowerCase(), ...headings[field].split(' ')].map((name) => [name, field])),
)

/** Custom field that the workspace defines. */
type FieldName = { key: string; label: string }

/**
 * Proposes a target per column, each at most once: fields of the workspace by label or key, then lead fields; other
 * columns become custom fields if possible.
 */
export function proposeTargets(columns: readonly string[], defined: readonly FieldName[]): (string | null)[] {
  const taken = new Set<string>()
  return columns.map((column) => {
    const target = proposeTarget(column.trim(), defined)
    if (target === null || taken.has(target)) return null
    taken.add(target)
    return target
  })
}

function proposeTarget(column: string, defined: readonly FieldName[]): string | null {
  if (readOnly.includes(column)) return null
  if (parseTarget(column) !== null) return column
  const folded = fold(column)
  const own = defined.find(({ key, label }) => fold(label) === folded || key === folded)
  if (own !== undefined) return targetOfKey(own.key)
  const known = byHeading.get(folded.replaceAll('_', ''))
  if (known !== undefined) return known
  const key = `k_${folded}`.slice(0, 40).replace(/_$/, '')
  return keyProblem(key) === null ? key : null
}
