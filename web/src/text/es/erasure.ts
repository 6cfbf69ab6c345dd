import type { erasure as en } from '../en/erasure.ts'

export const erasure: typeof en = {
  title: '¿Borrar a este cliente?',
  help: 'Sus leads, conversaciones, mensajes, notas e historial se borran para siempre, aquí y en lo que espera salir por webhooks. No se puede deshacer. Si vuelve a escribir, empieza como un cliente nuevo.',
  looking: 'Buscando sus datos…',
  found: 'Se va a borrar:',
  nothing: 'No se encontró nada. Los archivos guardados de importaciones se revisan de todos modos.',
  word: 'BORRAR',
  action: 'Borrar para siempre',
  done: 'Borrado',
  goesOn: 'Hay mucho que borrar. Sigue en segundo plano; el registro de auditoría dice cuándo termina.',
  kinds: {
    leads: (n) => (n === 1 ? '1 lead' : `${n} leads`),
    conversations: (n) => (n === 1 ? '1 conversación' : `${n} conversaciones`),
    messages: (n) => (n === 1 ? '1 mensaje' : `${n} mensajes`),
    files: (n) => (n === 1 ? '1 archivo en mensajes' : `${n} archivos en mensajes`),
    notes: (n) => (n === 1 ? '1 nota' : `${n} notas`),
    events: (n) => (n === 1 ? '1 evento' : `${n} eventos`),
    importFiles: (n) => (n === 1 ? '1 archivo de una importación' : `${n} archivos de importaciones`),
  },
}
