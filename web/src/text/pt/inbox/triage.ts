import type { triage as en } from '../../en/inbox/triage.ts'

export const triage: typeof en = {
  pick: {
    labelSearch: 'Buscar etiquetas',
    assignSearch: 'Buscar membros',
    snoozeSearch: 'Quando? 2h, 3d, 18:30…',
    nothing: 'Nada encontrado',
    noLabels: 'Nenhuma etiqueta ainda. Administradores as criam.',
    createLabel: (name) => `Criar a etiqueta “${name}”`,
    labelMade: (name) => `A etiqueta ${name} foi criada`,
    at: 'Data e hora',
    snoozeAt: 'Adiar até então',
    past: 'Escolha um momento que ainda não passou.',
  },
  bulk: {
    chosen: (n, shown) => (n === 1 ? '1 selecionada' : `${shown} selecionadas`),
    all: (shown) => `Selecionar todas (${shown})`,
    most: (shown) => `No máximo ${shown} de uma vez`,
    group: 'Conversas selecionadas',
    working: (done, of) => `Alterando ${done} de ${of}…`,
    changed: (n, shown) => (n === 1 ? '1 conversa alterada' : `${shown} conversas alteradas`),
    none: 'Nada precisou mudar',
    broken: (shown, of) => `${shown} de ${of} foram alteradas; depois a conexão falhou. Tente de novo para as outras.`,
    undone: (n, shown) => (n === 1 ? '1 conversa está como antes' : `${shown} conversas estão como antes`),
    left: (n, shown) =>
      n === 1 ? '1 foi alterada depois e fica como está.' : `${shown} foram alteradas depois e ficam como estão.`,
  },
  mentions: {
    title: 'Menções',
    unread: (n, shown) => (n === 0 ? 'Menções' : `Menções: ${shown} não lidas`),
    empty: 'Ninguém mencionou você ainda. Escreva @ e um nome em uma nota para mencionar um colega.',
    allRead: 'Marcar todas como lidas',
    more: 'Mostrar mais',
    isUnread: 'Não lida',
    by: (who, customer) => `${who}, sobre ${customer}`,
  },
}
