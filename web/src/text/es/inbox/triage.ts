import type { triage as en } from '../../en/inbox/triage.ts'

export const triage: typeof en = {
  pick: {
    labelSearch: 'Buscar etiquetas',
    assignSearch: 'Buscar miembros',
    snoozeSearch: '¿Cuándo? 2h, 3d, 18:30…',
    nothing: 'No se encontró nada',
    noLabels: 'Aún no hay etiquetas. Los administradores las crean.',
    createLabel: (name) => `Crear la etiqueta «${name}»`,
    labelMade: (name) => `Se creó la etiqueta ${name}`,
    at: 'Fecha y hora',
    snoozeAt: 'Posponer hasta entonces',
    past: 'Elige un momento que aún no haya pasado.',
  },
  bulk: {
    chosen: (n, shown) => (n === 1 ? '1 seleccionada' : `${shown} seleccionadas`),
    all: (shown) => `Seleccionar todas (${shown})`,
    most: (shown) => `Como máximo ${shown} a la vez`,
    group: 'Conversaciones seleccionadas',
    working: (done, of) => `Cambiando ${done} de ${of}…`,
    changed: (n, shown) => (n === 1 ? '1 conversación cambiada' : `${shown} conversaciones cambiadas`),
    none: 'No hubo nada que cambiar',
    broken: (shown, of) =>
      `Se cambiaron ${shown} de ${of}; después falló la conexión. Vuelve a intentarlo con las demás.`,
    undone: (n, shown) => (n === 1 ? '1 conversación está como antes' : `${shown} conversaciones están como antes`),
    left: (n, shown) =>
      n === 1 ? '1 cambió después y queda como está.' : `${shown} cambiaron después y quedan como están.`,
  },
  mentions: {
    title: 'Menciones',
    unread: (n, shown) => (n === 0 ? 'Menciones' : `Menciones: ${shown} sin leer`),
    empty: 'Nadie te ha mencionado aún. Escribe @ y un nombre en una nota para mencionar a un compañero.',
    allRead: 'Marcar todas como leídas',
    more: 'Mostrar más',
    isUnread: 'Sin leer',
    by: (who, customer) => `${who}, sobre ${customer}`,
  },
}
