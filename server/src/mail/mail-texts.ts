import { type Html, html, trustedHtml } from '../base/text/html.ts'
import type { Language } from '../base/text/languages.ts'
import type { MailContent } from './mailer.ts'

/** A mail as its parts, from which both the plain text and the HTML are made. */
export interface MailParts {
  subject: string
  paragraphs: readonly string[]
  items?: readonly MailItem[]
  button?: { label: string; url: string }
  footer: readonly string[]
  stop?: StopLinks
}

/** How a person gets other mails, or none. */
export interface StopLinks {
  preferencesUrl: string
  unsubscribeUrl: string
}

/** A line with a link. */
export interface MailItem {
  text: string
  url: string
}

/** Numbers of a digest, each with the page that shows them. */
export interface DigestCounts {
  unread: number
  /** Customers that wait for people. */
  waiting: number
  /** Open conversations of the person, and of those the ones with unread messages. */
  mine: number
  mineUnread: number
  unassigned: number
}

interface Texts {
  invitation(facts: { inviter: string | null; workspace: string }): MailParts
  'sign-in'(): MailParts
  reset(): MailParts
  test(): MailParts
  notifications(facts: { title: string; count: number; workspace: string }): MailParts
  more(n: number): string
  digest(facts: { workspace: string }): MailParts
  digestLine: Record<keyof Omit<DigestCounts, 'mineUnread'>, (n: string, isOne: boolean, unread: number) => string>
  preferences: string
  unsubscribe: string
  linkLabel: Record<'invitation' | 'sign-in' | 'reset', string>
}

const texts: Record<Language, Texts> = {
  en: {
    invitation: ({ inviter, workspace }) => ({
      subject: `Invitation to ${workspace} on Parley`,
      paragraphs: [
        inviter === null
          ? `You are invited to join the workspace ${workspace} on Parley.`
          : `${inviter} invites you to join the workspace ${workspace} on Parley.`,
      ],
      footer: ['The link works once, for 7 days. If you do not know what this is about, ignore this e-mail.'],
    }),
    'sign-in': () => ({
      subject: 'Your sign-in link for Parley',
      paragraphs: ['Use this link to sign in.'],
      footer: [
        'The link works once, for 15 minutes. If you did not ask for it, ignore this e-mail: nobody has signed in.',
      ],
    }),
    reset: () => ({
      subject: 'Choose a new password for Parley',
      paragraphs: ['Use this link to choose a new password. It ends your sessions in other browsers.'],
      footer: [
        'The link works once, for 15 minutes. If you did not ask for it, ignore this e-mail: your password stays as it is.',
      ],
    }),
    test: () => ({
      subject: 'Test e-mail of Parley',
      paragraphs: ['This installation can send e-mail.'],
      footer: [],
    }),
    notifications: ({ title, count, workspace }) => ({
      subject: count === 1 ? title : `${count} unread notifications in ${workspace}`,
      paragraphs: [`Unread in ${workspace}:`],
      footer: ['You get this e-mail because of your notification preferences.'],
    }),
    more: (n) => `and ${n} more`,
    digest: ({ workspace }) => ({
      subject: `Your day in ${workspace}`,
      paragraphs: [`In ${workspace} now:`],
      footer: ['You get this e-mail once a day because of your notification preferences.'],
    }),
    digestLine: {
      unread: (n, isOne) => `${n} unread ${isOne ? 'notification' : 'notifications'}`,
      waiting: (n, isOne) => (isOne ? '1 customer waits for a reply' : `${n} customers wait for a reply`),
      mine: (n, isOne, unread) => `${n} open ${isOne ? 'conversation' : 'conversations'} of yours, ${unread} unread`,
      unassigned: (n, isOne) => `${n} unassigned ${isOne ? 'conversation' : 'conversations'}`,
    },
    preferences: 'Change my preferences',
    unsubscribe: 'Unsubscribe',
    linkLabel: { invitation: 'Join the workspace', 'sign-in': 'Sign in', reset: 'Choose a password' },
  },
  es: {
    invitation: ({ inviter, workspace }) => ({
      subject: `Invitación a ${workspace} en Parley`,
      paragraphs: [
        inviter === null
          ? `Tienes una invitación al espacio de trabajo ${workspace} en Parley.`
          : `${inviter} te invita al espacio de trabajo ${workspace} en Parley.`,
      ],
      footer: ['El enlace sirve una vez, durante 7 días. Si no sabes de qué se trata, ignora este correo.'],
    }),
    'sign-in': () => ({
      subject: 'Tu enlace para entrar en Parley',
      paragraphs: ['Usa este enlace para entrar.'],
      footer: ['El enlace sirve una vez, durante 15 minutos. Si no lo pediste, ignora este correo: nadie ha entrado.'],
    }),
    reset: () => ({
      subject: 'Elige una nueva contraseña para Parley',
      paragraphs: ['Usa este enlace para elegir una nueva contraseña. Cierra tus sesiones en otros navegadores.'],
      footer: [
        'El enlace sirve una vez, durante 15 minutos. Si no lo pediste, ignora este correo: tu contraseña no cambia.',
      ],
    }),
    test: () => ({
      subject: 'Correo de prueba de Parley',
      paragraphs: ['Esta instalación puede enviar correo.'],
      footer: [],
    }),
    notifications: ({ title, count, workspace }) => ({
      subject: count === 1 ? title : `${count} notificaciones sin leer en ${workspace}`,
      paragraphs: [`Sin leer en ${workspace}:`],
      footer: ['Recibes este correo por tus preferencias de notificación.'],
    }),
    more: (n) => `y ${n} más`,
    digest: ({ workspace }) => ({
      subject: `Tu día en ${workspace}`,
      paragraphs: [`Ahora en ${workspace}:`],
      footer: ['Recibes este correo una vez al día por tus preferencias de notificación.'],
    }),
    digestLine: {
      unread: (n, isOne) => `${n} ${isOne ? 'notificación' : 'notificaciones'} sin leer`,
      waiting: (n, isOne) => (isOne ? '1 cliente espera respuesta' : `${n} clientes esperan respuesta`),
      mine: (n, isOne, unread) =>
        `${n} ${isOne ? 'conversación abierta tuya' : 'conversaciones abiertas tuyas'}, ${unread} sin leer`,
      unassigned: (n, isOne) => `${n} ${isOne ? 'conversación' : 'conversaciones'} sin asignar`,
    },
    preferences: 'Cambiar mis preferencias',
    unsubscribe: 'Cancelar estos correos',
    linkLabel: { invitation: 'Unirme al espacio', 'sign-in': 'Entrar', reset: 'Elegir contraseña' },
  },
  pt: {
    invitation: ({ inviter, workspace }) => ({
      subject: `Convite para ${workspace} no Parley`,
      paragraphs: [
        inviter === null
          ? `Você recebeu um convite para o espaço de trabalho ${workspace} no Parley.`
          : `${inviter} convida você para o espaço de trabalho ${workspace} no Parley.`,
      ],
      footer: ['O link vale uma vez, por 7 dias. Se não sabe do que se trata, ignore este e-mail.'],
    }),
    'sign-in': () => ({
      subject: 'Seu link para entrar no Parley',
      paragraphs: ['Use este link para entrar.'],
      footer: ['O link vale uma vez, por 15 minutos. Se não o pediu, ignore este e-mail: ninguém entrou.'],
    }),
    reset: () => ({
      subject: 'Escolha uma nova senha para o Parley',
      paragraphs: ['Use este link para escolher uma nova senha. Ele encerra suas sessões em outros navegadores.'],
      footer: ['O link vale uma vez, por 15 minutos. Se não o pediu, ignore este e-mail: sua senha não muda.'],
    }),
    test: () => ({
      subject: 'E-mail de teste do Parley',
      paragraphs: ['Esta instalação consegue enviar e-mails.'],
      footer: [],
    }),
    notifications: ({ title, count, workspace }) => ({
      subject: count === 1 ? title : `${count} notificações não lidas em ${workspace}`,
      paragraphs: [`Não lidas em ${workspace}:`],
      footer: ['Você recebe este e-mail por causa das suas preferências de notificação.'],
    }),
    more: (n) => `e mais ${n}`,
    digest: ({ workspace }) => ({
      subject: `Seu dia em ${workspace}`,
      paragraphs: [`Agora em ${workspace}:`],
      footer: ['Você recebe este e-mail uma vez por dia por causa das suas preferências de notificação.'],
    }),
    digestLine: {
      unread: (n, isOne) => `${n} ${isOne ? 'notificação não lida' : 'notificações não lidas'}`,
      waiting: (n, isOne) => (isOne ? '1 cliente aguarda resposta' : `${n} clientes aguardam resposta`),
      mine: (n, isOne, unread) =>
        `${n} ${isOne ? 'conversa aberta sua' : 'conversas abertas suas'}, ${unread} não ${unread === 1 ? 'lida' : 'lidas'}`,
      unassigned: (n, isOne) => `${n} ${isOne ? 'conversa' : 'conversas'} sem responsável`,
    },
    preferences: 'Mudar minhas preferências',
    unsubscribe: 'Cancelar estes e-mails',
    linkLabel: { invitation: 'Entrar no espaço', 'sign-in': 'Entrar', reset: 'Escolher senha' },
  },
}

export type Rendered = Omit<MailContent, 'to'>

export const invitationMail = (
  language: Language,
  { inviter, workspace, url }: { inviter: string | null; workspace: string; url: string },
): Rendered => {
  const { invitation, linkLabel } = texts[language]
  const facts = { inviter: inviter === null ? null : cleanName(inviter), workspace: cleanName(workspace) }
  return render(language, { ...invitation(facts), button: { label: linkLabel.invitation, url } })
}

export const linkMail = (language: Language, purpose: 'sign-in' | 'reset', url: string): Rendered =>
  render(language, { ...texts[language][purpose](), button: { label: texts[language].linkLabel[purpose], url } })

export const testMail = (language: Language): Rendered => render(language, texts[language].test())

/** `items`: the newest of `count` notifications. */
export function notificationsMail(language: Language, { workspace, items, count, stop }: NotificationsMail): Rendered {
  const { notifications, more } = texts[language]
  const parts = notifications({ title: items[0]?.text ?? '', count, workspace: cleanName(workspace) })
  const rest = count - items.length
  return render(language, {
    ...parts,
    items,
    footer: [...(rest > 0 ? [more(rest)] : []), ...parts.footer],
    stop,
  })
}

interface NotificationsMail {
  workspace: string
  items: readonly MailItem[]
  count: number
  stop: StopLinks
}

/** Counts are capped, so a full one is shown as `500+`. */
export function digestMail(language: Language, { workspace, counts, urls, stop, maxCount }: DigestMail): Rendered {
  const { digest, digestLine } = texts[language]
  const { mineUnread, ...shown } = counts
  const items = Object.entries(shown).flatMap(([name, n]) => {
    const key = name as keyof typeof shown
    if (n === 0) return []
    return { text: digestLine[key](n >= maxCount ? `${maxCount}+` : String(n), n === 1, mineUnread), url: urls[key] }
  })
  return render(language, { ...digest({ workspace: cleanName(workspace) }), items, stop })
}

interface DigestMail {
  workspace: string
  counts: DigestCounts
  urls: Record<keyof Omit<DigestCounts, 'mineUnread'>, string>
  stop: StopLinks
  maxCount: number
}

/** Makes a name one line without control characters: it also stands in a header. */
export const cleanName = (name: string): string =>
  name
    .slice(0, 400)
    .replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
    .replace(/[\u202a-\u202e\u2066-\u2069]/g, '')
    .trim()
    .slice(0, 200)

export function render(language: Language, { subject, paragraphs, items = [], button, footer, stop }: MailParts) {
  const { preferences, unsubscribe } = texts[language]
  const links =
    stop === undefined
      ? []
      : [
          { label: preferences, url: stop.preferencesUrl },
          { label: unsubscribe, url: stop.unsubscribeUrl },
        ]
  const lines = [
    ...paragraphs,
    ...items.map(({ text, url }) => `- ${text}\n  ${url}`),
    ...(button === undefined ? [] : [button.url]),
    ...footer,
    ...links.map(({ label, url }) => `${label}: ${url}`),
  ]
  const page = html`<!doctype html>
<html lang="${language}"><head><meta charset="utf-8"><title>${subject}</title></head>
<body style="margin:0;padding:24px;font:15px/1.5 system-ui,sans-serif;color:#1a1d21;background:#ffffff">
<div style="max-width:560px">
${paragraphs.map((line) => html`<p>${line}</p>`)}
${items.length > 0 && html`<ul style="padding-left:20px">${items.map(itemHtml)}</ul>`}
${button !== undefined && buttonHtml(button)}
${footer.map((line) => html`<p style="font-size:13px;color:#5c6470">${line}</p>`)}
${links.map(({ label, url }) => html`<p style="font-size:13px"><a href="${url}">${label}</a></p>`)}
</div></body></html>`
  return { subject, text: `${lines.join('\n\n')}\n`, html: page.text, unsubscribeUrl: stop?.unsubscribeUrl ?? null }
}

const itemHtml = ({ text, url }: MailItem): Html => html`<li style="margin:6px 0"><a href="${url}">${text}</a></li>`

/** With the address below it, for readers that show no buttons. */
const buttonHtml = ({ label, url }: { label: string; url: string }): Html =>
  html`<p style="margin:24px 0"><a href="${url}" style="${buttonStyle}">${label}</a></p>
<p style="font-size:13px;word-break:break-all"><a href="${url}">${url}</a></p>`

const buttonStyle = trustedHtml(
  'display:inline-block;padding:10px 18px;border-radius:8px;background:#4a54d8;color:#ffffff;text-decoration:none',
)
