import type { files as en } from '../../en/inbox/files.ts'

export const files: typeof en = {
  files: 'Archivos por enviar',
  drop: (name) => `Suelta archivos para enviarlos a ${name}`,
  cannotDrop: 'Ahora no se pueden enviar archivos en esta conversación',
  remove: (name) => `Quitar ${name}`,
  tryAgain: 'Reintentar',
  tryAgainWith: (name) => `Reintentar: ${name}`,
  earlier: (name) => `Enviar ${name} antes`,
  later: (name) => `Enviar ${name} después`,
  waiting: 'Espera su turno para subir',
  uploading: (percent) => `${percent} subido`,
  behind: 'Espera al anterior',
  sending: 'Se está enviando',
  notUploaded: 'No se pudo subir',
  notSent: 'No enviado',
  kinds: {
    image: 'Foto',
    video: 'Vídeo',
    audio: 'Audio',
    voice: 'Mensaje de voz',
    document: 'Documento',
    sticker: 'Sticker',
  },
  refused: {
    type: (name) => `No se añadió ${name}: este canal no acepta archivos de este tipo.`,
    size: (name, most) => `No se añadió ${name}: supera ${most}, lo máximo que se puede enviar.`,
    empty: (name) => `No se añadió ${name}: está vacío.`,
    many: (name, most) => `No se añadió ${name}: envía primero los demás, ${most} a la vez como máximo.`,
  },
  voice: {
    recording: 'Grabando',
    level: 'Volumen',
    done: 'Listo',
    cancel: 'Descartar la grabación',
    play: 'Escuchar la grabación',
    pause: 'Pausar la grabación',
    name: 'Mensaje de voz',
    preparing: 'Se está preparando la grabación',
    problems: {
      insecure:
        'Los navegadores solo permiten grabar en direcciones que empiezan por https. Consulta a quien administra Parley aquí.',
      unable:
        'Este navegador no puede grabar en un formato que acepte este canal. Usa otro navegador o adjunta un archivo.',
      denied:
        'El navegador no tiene permiso para usar el micrófono. Permítelo junto a la dirección y vuelve a intentarlo.',
      missing: 'No se encontró ningún micrófono.',
      silent: 'No se grabó nada.',
      failed: 'La grabación no funcionó. Vuelve a intentarlo o adjunta un archivo.',
    },
  },
  quote: {
    answering: (name) => `Respuesta a ${name}`,
    answeringSelf: 'Respuesta a tu equipo',
    remove: 'No responder a un mensaje',
  },
  react: {
    title: 'Reacciones',
    with: (emoji) => `Reaccionar con ${emoji}`,
    takeBack: (emoji) => `Retirar ${emoji}`,
    more: 'Más',
  },
  header: {
    image: 'Imagen del encabezado',
    video: 'Vídeo del encabezado',
    document: 'Documento del encabezado',
    choose: 'Elegir un archivo',
    another: 'Elegir otro',
    needed: 'Esta plantilla necesita un archivo',
  },
}
