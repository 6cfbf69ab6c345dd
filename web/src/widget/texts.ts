// Words of the widget, which loads none of the app's catalogs.

export const languages = ['en', 'pt', 'es'] as const
export type Language = (typeof languages)[number]

/** Returns the language of a tag such as `pt-BR`; null if there are no words in it. */
export const languageOf = (tag: string): Language | null =>
  languages.find((each) => each === tag.slice(0, 2).toLowerCase()) ?? null

export interface Words {
  chat: string
  open: string
  openUnread(count: number): string
  close: string
  greeting: string
  name: string
  email: string
  phone: string
  optional: string
  write: string
  send: string
  attach: string
  team: string
  you: string
  typing: string
  sending: string
  sent: string
  read: string
  notSent: string
  tryAgain: string
  offline: string
  closed: string
  opensAt(time: string): string
  whatsapp: string
  end: string
  endConfirm: string
  required(field: string): string
  download(name: string): string
  unreachable: string
  tooLarge: string
  tooFast: string
  stored: string
}

const en: Words = {
  chat: 'Chat',
  open: 'Open the chat',
  openUnread: (count) => `Open the chat: ${count} unread`,
  close: 'Close the chat',
  greeting: 'Hello! How can we help?',
  name: 'Name',
  email: 'E-mail',
  phone: 'Phone',
  optional: 'optional',
  write: 'Write a message',
  send: 'Send',
  attach: 'Send an image or a PDF',
  team: 'Team',
  you: 'You',
  typing: 'is writing …',
  sending: 'Sending',
  sent: 'Sent',
  read: 'Read',
  notSent: 'Not sent',
  tryAgain: 'Try again',
  offline: 'No connection. Trying again …',
  closed: 'We are away at the moment. Leave a message.',
  opensAt: (time) => `We are away until ${time}. Leave a message.`,
  whatsapp: 'Go on in WhatsApp',
  end: 'End the chat on this device',
  endConfirm: 'End it? This device forgets the chat.',
  required: (field) => `${field} is needed`,
  download: (name) => `Download ${name}`,
  unreachable: 'The chat cannot be loaded right now.',
  tooLarge: 'Only images and PDF files of up to 8 MB can be sent.',
  tooFast: 'That was too fast. Wait a moment.',
  stored: 'Your messages are stored by the team. This device remembers the chat.',
}

const pt: Words = {
  chat: 'Chat',
  open: 'Abrir o chat',
  openUnread: (count) => `Abrir o chat: ${count} não lidas`,
  close: 'Fechar o chat',
  greeting: 'Olá! Como podemos ajudar?',
  name: 'Nome',
  email: 'E-mail',
  phone: 'Telefone',
  optional: 'opcional',
  write: 'Escreva uma mensagem',
  send: 'Enviar',
  attach: 'Enviar uma imagem ou um PDF',
  team: 'Equipe',
  you: 'Você',
  typing: 'está escrevendo …',
  sending: 'Enviando',
  sent: 'Enviada',
  read: 'Lida',
  notSent: 'Não enviada',
  tryAgain: 'Tentar de novo',
  offline: 'Sem conexão. Tentando de novo …',
  closed: 'Não estamos disponíveis agora. Deixe uma mensagem.',
  opensAt: (time) => `Voltamos ${time}. Deixe uma mensagem.`,
  whatsapp: 'Continuar no WhatsApp',
  end: 'Encerrar o chat neste aparelho',
  endConfirm: 'Encerrar? Este aparelho esquece o chat.',
  required: (field) => `Preencha: ${field}`,
  download: (name) => `Baixar ${name}`,
  unreachable: 'O chat não pode ser carregado agora.',
  tooLarge: 'Só é possível enviar imagens e PDFs de até 8 MB.',
  tooFast: 'Rápido demais. Espere um momento.',
  stored: 'Suas mensagens ficam com a equipe. Este aparelho lembra o chat.',
}

const es: Words = {
  chat: 'Chat',
  open: 'Abrir el chat',
  openUnread: (count) => `Abrir el chat: ${count} sin leer`,
  close: 'Cerrar el chat',
  greeting: '¡Hola! ¿En qué podemos ayudarte?',
  name: 'Nombre',
  email: 'Correo',
  phone: 'Teléfono',
  optional: 'opcional',
  write: 'Escribe un mensaje',
  send: 'Enviar',
  attach: 'Enviar una imagen o un PDF',
  team: 'Equipo',
  you: 'Tú',
  typing: 'está escribiendo …',
  sending: 'Enviando',
  sent: 'Enviado',
  read: 'Leído',
  notSent: 'No enviado',
  tryAgain: 'Intentar de nuevo',
  offline: 'Sin conexión. Intentando de nuevo …',
  closed: 'Ahora no estamos disponibles. Deja un mensaje.',
  opensAt: (time) => `Volvemos ${time}. Deja un mensaje.`,
  whatsapp: 'Seguir en WhatsApp',
  end: 'Terminar el chat en este dispositivo',
  endConfirm: '¿Terminar? Este dispositivo olvida el chat.',
  required: (field) => `Completa: ${field}`,
  download: (name) => `Descargar ${name}`,
  unreachable: 'El chat no se puede cargar ahora.',
  tooLarge: 'Solo se pueden enviar imágenes y PDF de hasta 8 MB.',
  tooFast: 'Demasiado rápido. Espera un momento.',
  stored: 'El equipo guarda tus mensajes. Este dispositivo recuerda el chat.',
}

export const texts: Record<Language, Words> = { en, pt, es }
