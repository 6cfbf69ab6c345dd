import { adPlatforms, priorities, sources } from '../../lead/lead.ts'

/** Fields of which a lead has one of a few values, so that what a file has in them may have to be translated. */
export const chosenFields = ['status', 'priority', 'source', 'adPlatform', 'assignedTo'] as const
export type ChosenField = (typeof chosenFields)[number]

export const isChosen = (field: string): field is ChosenField => (chosenFields as readonly string[]).includes(field)

/** What the values of a file stand for, by how the file writes them; null is left out. */
export type ValueMapping = Partial<Record<ChosenField, Record<string, string | null>>>

/** The same of fields that the workspace defines, by what a column fills. */
export type FieldValueMapping = Record<string, Record<string, string | null>>

/** What a file writes, whatever its case and the blanks around it. */
export const valueKey = (text: string): string => text.normalize('NFKC').trim().toLowerCase()

/** What a lead of this workspace can have in the field; null for the ids of members. */
export function allowedValues(field: ChosenField, statuses: readonly string[]): readonly string[] | null {
  if (field === 'status') return statuses
  if (field === 'priority') return priorities
  if (field === 'source') return sources
  return field === 'adPlatform' ? adPlatforms : null
}

/** The value that a text is, whatever its case and accents: `Em negociação` is `em_negociacao`. Undefined for others. */
export function sameValue(text: string, allowed: readonly string[]): string | undefined {
  const folded = fold(text)
  return allowed.find((value) => value === text || (folded !== '' && value === folded))
}

// What people write in English, Portuguese and Spanish, folded by `fold`.
const words: Partial<Record<ChosenField, Record<string, string>>> = {
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

/** The value that a text probably means, to be shown and confirmed by a person; null when none suggests itself. */
export function proposeValue(field: ChosenField, text: string, statuses: readonly string[]): string | null {
  const allowed = allowedValues(field, statuses) ?? []
  const same = sameValue(text, allowed)
  if (same !== undefined) return same
  const folded = fold(text)
  const [meant] = Object.entries(words[field] ?? {}).find(([, all]) => all.split(' ').includes(folded)) ?? []
  return meant !== undefined && allowed.includes(meant) ? meant : null
}

/** A heading or value without case, accents and blanks: `Orçamento enviado` is `orcamento_enviado`. */
export function fold(text: string): string {
  return text
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^_|_$/g, '')
}
