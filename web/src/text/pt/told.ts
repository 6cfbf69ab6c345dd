import type { told as en } from '../en/told.ts'

export const told: typeof en = {
  unread: (count) => (count === 1 ? '1 não lida' : `${count} não lidas`),
  new: 'Nova:',
  somebody: 'Alguém',
  readAll: 'Marcar tudo como lido',
  older: 'Mostrar anteriores',
  empty: 'Nada ainda',
  emptyHelp: 'Aqui você vê quando alguém menciona você, atribui uma conversa a você ou um cliente espera demais.',
  toSettings: 'Configurações de notificações',
  sentences: {
    mention: ({ actor }) => `${actor} mencionou você`,
    assigned: ({ actor }) => `${actor} atribuiu uma conversa a você`,
    handover: ({ actor }) => `${actor} passou uma conversa adiante`,
    waiting: ({ count }) => (count === 1 ? 'Espera uma resposta' : `${count} clientes esperam uma resposta`),
    connection: ({ connection, reason }) =>
      connection !== null && reason !== null
        ? `${connection}: ${reason}`
        : connection === null
          ? 'Uma conexão caiu'
          : `${connection} está desconectada`,
  },
  settings: {
    title: 'Notificações',
    help: 'Do que você é avisado neste espaço, e como. Nunca do que você mesmo fez.',
    kind: 'O quê',
    kinds: {
      mention: 'Alguém me menciona',
      assigned: 'Uma conversa é atribuída a mim',
      handover: 'Um agente passa uma conversa adiante',
      waiting: 'Um cliente espera demais',
      connection: 'Uma conexão cai',
    },
    ways: { bell: 'Sino', sound: 'Som', browser: 'Navegador', push: 'Com o Parley fechado' },
    wayHelp: 'Sem o sino você não é avisado de forma alguma.',
    of: (kind, way) => `${kind}: ${way}`,
    browser: {
      title: 'Este navegador',
      on: 'Este navegador mostra notificações, também com o Parley fechado.',
      open: 'Este navegador mostra notificações enquanto o Parley está aberto. Ele não alcança nenhum serviço de push e, com o Parley fechado, não mostra nenhuma; ele tenta de novo sempre que você abre o Parley.',
      off: 'Este navegador ainda não mostra notificações.',
      denied:
        'Este navegador bloqueia as notificações do Parley. Permita-as nas configurações do navegador para este site.',
      unsupported:
        'Este navegador não consegue mostrar notificações. No iPhone, adicione antes o Parley à tela de início.',
      turnOn: 'Mostrar notificações neste navegador',
      turnOff: 'Parar neste navegador',
    },
    tone: 'Toque',
    tones: { chime: 'Sino', drop: 'Gota', knock: 'Toc, toc' },
    hear: 'Ouvir',
    pushNames: 'Mostrar quem é o cliente com o Parley fechado',
    pushNamesHelp: 'Pode aparecer em uma tela bloqueada. O que o cliente escreveu nunca é mostrado.',
    quiet: 'Horas de silêncio',
    quietHelp: 'Sem som nem pop-up. O sino se enche mesmo assim.',
    from: 'Das',
    to: 'Até',
    timeZone: 'Fuso horário',
    days: 'Em silêncio o dia todo',
    same: 'Início e fim precisam ser diferentes.',
    notKept: 'Não foi salvo. Mude mais uma vez.',
  },
}
