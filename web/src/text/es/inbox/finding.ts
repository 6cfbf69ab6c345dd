import type { finding as en } from '../../en/inbox/finding.ts'

export const finding: typeof en = {
  found: {
    title: 'Resultados',
    conversations: 'Conversaciones',
    matching: 'Conversaciones que coinciden',
    messages: 'Mensajes',
    noConversation: 'Ninguna conversación con ese nombre o número.',
    tooShort: 'Los nombres y números se encuentran con tres caracteres o más.',
    noMessage: 'Ningún mensaje dice eso.',
    showAll: 'Ver todas las conversaciones',
    showFewer: 'Ver menos conversaciones',
    older: 'Ver mensajes anteriores',
    looking: 'Buscando más atrás…',
    lookedTo: (day) => `Buscado hasta el ${day}`,
  },
}
