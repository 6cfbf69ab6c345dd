import type { finding as en } from '../../en/inbox/finding.ts'

export const finding: typeof en = {
  found: {
    title: 'Resultados',
    conversations: 'Conversas',
    matching: 'Conversas que correspondem',
    messages: 'Mensagens',
    noConversation: 'Nenhuma conversa com esse nome ou número.',
    tooShort: 'Nomes e números são encontrados com três caracteres ou mais.',
    noMessage: 'Nenhuma mensagem diz isso.',
    showAll: 'Ver todas as conversas',
    showFewer: 'Ver menos conversas',
    older: 'Ver mensagens anteriores',
    looking: 'Buscando mais atrás…',
    lookedTo: (day) => `Buscado até ${day}`,
  },
}
