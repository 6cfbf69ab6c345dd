import type { start as en } from '../../en/inbox/start.ts'

export const start: typeof en = {
  title: (name) => `Escribir a ${name}`,
  help: 'Una conversación empieza con una plantilla aprobada. Cuando respondan, podrás escribir libremente durante 24 horas.',
  number: 'Enviar desde',
  template: 'Plantilla',
  choose: 'Elige una plantilla',
  value: (n) => `Valor ${n}`,
  send: 'Enviar',
  noPhone: 'Este lead no tiene teléfono. Añade uno para escribirle.',
  noConnection: 'Ningún número puede iniciar conversaciones ahora.',
  noConnectionHelp:
    'Las plantillas necesitan un número activo de WhatsApp Business Platform, propio o de un socio. Un teléfono vinculado por código QR solo puede responder.',
  connections: 'Ir a las conexiones',
  noTemplate: 'Este número no tiene ninguna plantilla aprobada que se pueda enviar desde aquí.',
  noTemplateHelp: 'Las plantillas con imagen o archivo se envían desde la bandeja.',
  failed: 'La plataforma rechazó el mensaje. La conversación dice por qué.',
  whom: 'Para',
  whomPlaceholder: 'Nombre, teléfono o correo',
  nobody: 'No se encontró a nadie. Escribe un número completo para escribirle.',
  writeTo: (number) => `Escribir a ${number}`,
  withoutPhone: 'Sin teléfono',
  change: 'Cambiar',
  problems: {
    whom: 'Elige a alguien, o escribe un teléfono con su código de país.',
    template: 'Elige una plantilla.',
  },
  exists: (name) => `Ya hay una conversación con ${name} en este número.`,
  existing: {
    open: 'Allí puedes escribir libremente.',
    closed: 'Allí se puede enviar texto en cuanto escriban. Hasta entonces les llega una plantilla.',
    silent: 'Desde un teléfono vinculado por código QR no se puede enviar nada hasta que escriban.',
  },
  elsewhere: (connection) => `Abrir su conversación en ${connection}`,
  open: 'Abrir la conversación',
}
