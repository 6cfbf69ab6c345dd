import type { start as en } from '../../en/inbox/start.ts'

export const start: typeof en = {
  title: (name) => `Escrever para ${name}`,
  help: 'Uma conversa começa com um modelo aprovado. Quando responderem, você pode escrever livremente por 24 horas.',
  number: 'Enviar de',
  template: 'Modelo',
  choose: 'Escolha um modelo',
  value: (n) => `Valor ${n}`,
  send: 'Enviar',
  noPhone: 'Este lead não tem telefone. Adicione um para escrever.',
  noConnection: 'Nenhum número pode iniciar conversas agora.',
  noConnectionHelp:
    'Modelos precisam de um número ativo da WhatsApp Business Platform, próprio ou de um parceiro. Um telefone vinculado por QR code só pode responder.',
  connections: 'Ir para as conexões',
  noTemplate: 'Este número não tem nenhum modelo aprovado que possa ser enviado daqui.',
  noTemplateHelp: 'Modelos com imagem ou arquivo são enviados pela caixa de entrada.',
  failed: 'A plataforma recusou a mensagem. A conversa diz por quê.',
  whom: 'Para',
  whomPlaceholder: 'Nome, telefone ou e-mail',
  nobody: 'Ninguém encontrado. Digite um número inteiro para escrever para ele.',
  writeTo: (number) => `Escrever para ${number}`,
  withoutPhone: 'Sem telefone',
  change: 'Trocar',
  problems: {
    whom: 'Escolha alguém ou digite um telefone com o código do país.',
    template: 'Escolha um modelo.',
  },
  exists: (name) => `Já existe uma conversa com ${name} neste número.`,
  existing: {
    open: 'Lá você pode escrever livremente.',
    closed: 'Lá se pode enviar texto assim que escreverem. Até então, um modelo chega até eles.',
    silent: 'De um telefone vinculado por QR code nada pode ser enviado até que escrevam.',
  },
  elsewhere: (connection) => `Abrir a conversa em ${connection}`,
  open: 'Abrir a conversa',
}
