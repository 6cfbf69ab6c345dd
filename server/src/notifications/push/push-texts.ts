import type { NotificationKind } from '../notification-kinds.ts'

/** The languages of the web app: a browser says in which it is to be told. */
export const pushLanguages = ['en', 'es', 'pt'] as const
export type PushLanguage = (typeof pushLanguages)[number]

export interface PushContent {
  kind: NotificationKind
  count: number
  /** Who did it; null: nobody who has a name. */
  actor: string | null
  /** The customer; null: not to be said, or not known. */
  customer: string | null
  connection: string | null
  /** It works, but not all of it. */
  isLimited?: boolean
}

type Sentence = (facts: PushContent & { actor: string }) => string

interface PushTexts {
  someone: string
  titles: Record<NotificationKind, Sentence>
}

const ofConnection =
  (unnamed: string, limited: string, down: string): Sentence =>
  ({ connection, isLimited }) =>
    connection === null ? unnamed : `${connection} ${isLimited ? limited : down}`

const texts: Record<PushLanguage, PushTexts> = {
  en: {
    someone: 'Someone',
    titles: {
      mention: ({ actor }) => `${actor} mentioned you`,
      assigned: ({ actor }) => `${actor} assigned you a conversation`,
      handover: ({ actor }) => `${actor} handed over a conversation`,
      waiting: ({ count }) =>
        count === 1 ? 'A customer is waiting for a reply' : `${count} customers are waiting for a reply`,
      connection: ofConnection('A connection is disconnected', 'needs attention', 'is disconnected'),
    },
  },
  es: {
    someone: 'Alguien',
    titles: {
      mention: ({ actor }) => `${actor} te mencionó`,
      assigned: ({ actor }) => `${actor} te asignó una conversación`,
      handover: ({ actor }) => `${actor} transfirió una conversación`,
      waiting: ({ count }) => (count === 1 ? 'Un cliente espera respuesta' : `${count} clientes esperan respuesta`),
      connection: ofConnection('Una conexión está desconectada', 'necesita atención', 'está desconectada'),
    },
  },
  pt: {
    someone: 'Alguém',
    titles: {
      mention: ({ actor }) => `${actor} mencionou você`,
      assigned: ({ actor }) => `${actor} atribuiu uma conversa a você`,
      handover: ({ actor }) => `${actor} transferiu uma conversa`,
      waiting: ({ count }) => (count === 1 ? 'Um cliente aguarda resposta' : `${count} clientes aguardam resposta`),
      connection: ofConnection('Uma conexão está desconectada', 'precisa de atenção', 'está desconectada'),
    },
  },
}

/** What a browser shows: who did what, and of the customer no more than the name, if the person wants it. */
export function pushText(facts: PushContent, language: PushLanguage): { title: string; body: string } {
  const { someone, titles } = texts[language]
  return { title: titles[facts.kind]({ ...facts, actor: facts.actor ?? someone }), body: facts.customer ?? '' }
}
