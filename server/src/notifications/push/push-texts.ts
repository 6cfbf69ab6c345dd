import type { Language } from '../../base/text/languages.ts'
import type { NotificationKind } from '../notification-kinds.ts'

export interface PushContent {
  kind: NotificationKind
  count: number
  /** Name of who did it; null if nobody or without a name. */
  actor: string | null
  /** Name of the customer; null if unknown or not to be shown. */
  customer: string | null
  connection: string | null
  isLimited?: boolean
  /** Whether a budget is used up, not just nearly. */
  isReached?: boolean
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

const texts: Record<Language, PushTexts> = {
  en: {
    someone: 'Someone',
    titles: {
      mention: ({ actor }) => `${actor} mentioned you`,
      assigned: ({ actor }) => `${actor} assigned you a conversation`,
      handover: ({ actor }) => `${actor} handed over a conversation`,
      draft: ({ actor }) => `${actor} drafted a reply for you to approve`,
      waiting: ({ count }) =>
        count === 1 ? 'A customer is waiting for a reply' : `${count} customers are waiting for a reply`,
      goal: ({ count }) =>
        count === 1 ? 'A service-level goal was missed' : `${count} service-level goals were missed`,
      connection: ofConnection('A connection is disconnected', 'needs attention', 'is disconnected'),
      budget: ({ isReached }) => (isReached ? 'A message budget is used up' : '80% of a message budget is used'),
      task: () => 'A task is due',
      scheduled: () => 'A scheduled message was not sent',
      silence: () => 'A customer has not replied',
      broadcast: () => 'A broadcast has paused',
    },
  },
  es: {
    someone: 'Alguien',
    titles: {
      mention: ({ actor }) => `${actor} te mencionó`,
      assigned: ({ actor }) => `${actor} te asignó una conversación`,
      handover: ({ actor }) => `${actor} transfirió una conversación`,
      draft: ({ actor }) => `${actor} preparó una respuesta por aprobar`,
      waiting: ({ count }) => (count === 1 ? 'Un cliente espera respuesta' : `${count} clientes esperan respuesta`),
      goal: ({ count }) =>
        count === 1 ? 'No se cumplió un objetivo de servicio' : `No se cumplieron ${count} objetivos de servicio`,
      connection: ofConnection('Una conexión está desconectada', 'necesita atención', 'está desconectada'),
      budget: ({ isReached }) =>
        isReached ? 'Se agotó un presupuesto de mensajes' : 'Se usó el 80 % de un presupuesto de mensajes',
      task: () => 'Una tarea vence ahora',
      scheduled: () => 'No se envió un mensaje programado',
      silence: () => 'Un cliente no ha respondido',
      broadcast: () => 'Se pausó una difusión',
    },
  },
  pt: {
    someone: 'Alguém',
    titles: {
      mention: ({ actor }) => `${actor} mencionou você`,
      assigned: ({ actor }) => `${actor} atribuiu uma conversa a você`,
      handover: ({ actor }) => `${actor} transferiu uma conversa`,
      draft: ({ actor }) => `${actor} preparou uma resposta para aprovar`,
      waiting: ({ count }) => (count === 1 ? 'Um cliente aguarda resposta' : `${count} clientes aguardam resposta`),
      goal: ({ count }) =>
        count === 1 ? 'Uma meta de atendimento não foi cumprida' : `${count} metas de atendimento não foram cumpridas`,
      connection: ofConnection('Uma conexão está desconectada', 'precisa de atenção', 'está desconectada'),
      budget: ({ isReached }) =>
        isReached ? 'Um orçamento de mensagens acabou' : '80% de um orçamento de mensagens foi usado',
      task: () => 'Uma tarefa vence agora',
      scheduled: () => 'Uma mensagem agendada não foi enviada',
      silence: () => 'Um cliente não respondeu',
      broadcast: () => 'Um disparo foi pausado',
    },
  },
}

/** Returns the texts of a push: who did what, and the customer's name if the person allows it. */
export function pushText(facts: PushContent, language: Language): { title: string; body: string } {
  const { someone, titles } = texts[language]
  return { title: titles[facts.kind]({ ...facts, actor: facts.actor ?? someone }), body: facts.customer ?? '' }
}
