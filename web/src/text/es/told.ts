import type { told as en } from '../en/told.ts'

export const told: typeof en = {
  unread: (count) => `${count} sin leer`,
  new: 'Nuevo:',
  somebody: 'Alguien',
  readAll: 'Marcar todo como leído',
  older: 'Mostrar anteriores',
  empty: 'Nada todavía',
  emptyHelp: 'Aquí verás cuando alguien te mencione, te asigne una conversación o un cliente espere demasiado.',
  toSettings: 'Ajustes de notificaciones',
  sentences: {
    mention: ({ actor }) => `${actor} te mencionó`,
    assigned: ({ actor }) => `${actor} te asignó una conversación`,
    handover: ({ actor }) => `${actor} entregó una conversación`,
    waiting: ({ count }) => (count === 1 ? 'Espera una respuesta' : `${count} clientes esperan una respuesta`),
    connection: ({ connection, reason }) =>
      connection !== null && reason !== null
        ? `${connection}: ${reason}`
        : connection === null
          ? 'Se perdió una conexión'
          : `${connection} está desconectada`,
  },
  settings: {
    title: 'Notificaciones',
    help: 'De qué se te avisa en este espacio, y cómo. Nunca de lo que hiciste tú.',
    kind: 'Qué',
    kinds: {
      mention: 'Alguien me menciona',
      assigned: 'Se me asigna una conversación',
      handover: 'Un agente entrega una conversación',
      waiting: 'Un cliente espera demasiado',
      connection: 'Se pierde una conexión',
    },
    ways: { bell: 'Campana', sound: 'Sonido', browser: 'Navegador', push: 'Con Parley cerrado' },
    wayHelp: 'Sin la campana no se te avisa de ninguna forma.',
    of: (kind, way) => `${kind}: ${way}`,
    browser: {
      title: 'Este navegador',
      on: 'Este navegador muestra notificaciones, también con Parley cerrado.',
      open: 'Este navegador muestra notificaciones mientras Parley está abierto. No llega a ningún servicio push, así que con Parley cerrado no muestra ninguna; lo intenta de nuevo cada vez que abres Parley.',
      off: 'Este navegador todavía no muestra notificaciones.',
      denied:
        'Este navegador bloquea las notificaciones de Parley. Permítelas en los ajustes del navegador para este sitio.',
      unsupported:
        'Este navegador no puede mostrar notificaciones. En un iPhone, añade antes Parley a la pantalla de inicio.',
      turnOn: 'Mostrar notificaciones en este navegador',
      turnOff: 'Dejar de mostrarlas aquí',
    },
    tone: 'Tono',
    tones: { chime: 'Timbre', drop: 'Gota', knock: 'Toc, toc' },
    hear: 'Escuchar',
    pushNames: 'Mostrar quién es el cliente con Parley cerrado',
    pushNamesHelp: 'Puede verse en una pantalla bloqueada. Nunca se muestra lo que el cliente escribió.',
    quiet: 'Horas de silencio',
    quietHelp: 'Sin sonido ni ventanas emergentes. La campana se llena igualmente.',
    from: 'Desde',
    to: 'Hasta',
    timeZone: 'Zona horaria',
    days: 'En silencio todo el día',
    same: 'El inicio y el fin deben ser distintos.',
    notKept: 'No se guardó. Cámbialo otra vez.',
  },
}
