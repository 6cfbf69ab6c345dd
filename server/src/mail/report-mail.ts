import type { Language } from '../base/text/languages.ts'
import { cleanName, type MailItem, type Rendered, render, type StopLinks } from './mail-texts.ts'

/** Numbers of a weekly report; those of a number are that of the week and of the week before. */
export interface ReportMail {
  workspace: string
  /** Name of the saved report. */
  name: string
  numbers: Record<ReportLine, { now: number; before: number }>
  /** Median seconds until first answers; null without any. */
  medians: Record<'people' | 'agents', number | null>
  /** The page with the report. */
  url: string
  stop: StopLinks
}

export const reportLines = ['new', 'closed', 'reopened', 'people', 'agents', 'handedOver', 'leads', 'won'] as const
export type ReportLine = (typeof reportLines)[number]

interface Texts {
  subject(name: string, workspace: string): string
  intro: string
  lines: Record<ReportLine, string>
  words: { before: string; median: string }
  footer: string
}

const texts: Record<Language, Texts> = {
  en: {
    subject: (name, workspace) => `${name}: the last week in ${workspace}`,
    intro: 'The last seven days, and the seven days before:',
    lines: {
      new: 'New conversations',
      closed: 'Closed conversations',
      reopened: 'Opened again',
      people: 'First answers of people',
      agents: 'First answers of agents',
      handedOver: 'Handed over to people',
      leads: 'New leads',
      won: 'Won leads',
    },
    words: { before: 'before', median: 'median' },
    footer: 'You get this e-mail every week because you chose it.',
  },
  es: {
    subject: (name, workspace) => `${name}: la última semana en ${workspace}`,
    intro: 'Los últimos siete días y los siete anteriores:',
    lines: {
      new: 'Conversaciones nuevas',
      closed: 'Conversaciones cerradas',
      reopened: 'Abiertas de nuevo',
      people: 'Primeras respuestas de personas',
      agents: 'Primeras respuestas de agentes',
      handedOver: 'Pasadas a personas',
      leads: 'Leads nuevos',
      won: 'Leads ganados',
    },
    words: { before: 'antes', median: 'mediana' },
    footer: 'Recibes este correo cada semana porque lo elegiste.',
  },
  pt: {
    subject: (name, workspace) => `${name}: a última semana em ${workspace}`,
    intro: 'Os últimos sete dias e os sete anteriores:',
    lines: {
      new: 'Conversas novas',
      closed: 'Conversas fechadas',
      reopened: 'Abertas de novo',
      people: 'Primeiras respostas de pessoas',
      agents: 'Primeiras respostas de agentes',
      handedOver: 'Passadas a pessoas',
      leads: 'Leads novos',
      won: 'Leads ganhos',
    },
    words: { before: 'antes', median: 'mediana' },
    footer: 'Você recebe este e-mail toda semana porque o escolheu.',
  },
}

/** The weekly mail of a saved report. */
export function reportMail(language: Language, mail: ReportMail): Rendered {
  const { subject, intro, lines, words, footer } = texts[language]
  const format = new Intl.NumberFormat(language)
  const items = reportLines.map((name): MailItem => {
    const { now, before } = mail.numbers[name]
    const median = name === 'people' || name === 'agents' ? mail.medians[name] : null
    const time = median === null ? '' : `, ${words.median} ${durationText(language, median)}`
    const text = `${lines[name]}: ${format.format(now)} (${words.before}: ${format.format(before)})${time}`
    return { text, url: mail.url }
  })
  return render(language, {
    subject: subject(cleanName(mail.name), cleanName(mail.workspace)),
    paragraphs: [intro],
    items,
    footer: [footer],
    stop: mail.stop,
  })
}

function durationText(language: Language, seconds: number): string {
  const [value, unit] =
    seconds < 60 ? [seconds, 'second'] : seconds < 3600 ? [seconds / 60, 'minute'] : [seconds / 3600, 'hour']
  const digits = unit === 'hour' ? 1 : 0
  const options = { style: 'unit', unit, unitDisplay: 'short', maximumFractionDigits: digits } as const
  return new Intl.NumberFormat(language, options).format(value)
}
