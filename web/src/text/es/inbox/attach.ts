import type { attach as en } from '../../en/inbox/attach.ts'

export const attach: typeof en = {
  choose: 'Adjuntar archivos',
  notKnown: 'Se está consultando qué se puede enviar aquí',
  caption: 'Añadir un texto',
  captionOf: (name) => `Texto de ${name}`,
  pasted: 'Imagen pegada',
  record: 'Grabar un mensaje de voz',
  reply: 'Responder a este mensaje',
  react: 'Reaccionar a este mensaje',
}
