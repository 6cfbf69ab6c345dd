import type { IncomingHttpHeaders } from 'node:http'

const en = {
  language: 'en',
  signIn: 'Sign in',
  signInHelp: 'With the e-mail and password of your Parley account.',
  email: 'E-mail',
  emailHelp: 'You sign in with it.',
  password: 'Password',
  forgotten: 'Forgotten your password? Ask whoever runs this installation for a sign-in link.',
  enterCode: 'Enter your code',
  enterCodeHelp: 'Your account asks for a second step.',
  code: 'Code',
  codeHelp: 'Six digits from your authenticator, or one of your recovery codes.',
  startAgain: 'Start again',
  welcome: 'Welcome to Parley',
  linkHelp: 'This link signs you in once. It then stops working.',
  choosePassword: 'Choose a password',
  choosePasswordHelp: 'The link that brought you here works once. With a password you come in again by yourself.',
  setPassword: 'Set the password',
  later: 'Later',
  linkOver: 'This link no longer works',
  linkOverHelp: 'It was used already, or it is too old. Ask for a new one.',
  withPassword: 'Sign in with your password',
  nothingHere: 'Page not found',
  nothingHereHelp: 'The address may have changed, or a letter of it is missing.',
  home: 'Go to the home page',
  failed: 'Something went wrong',
  join: 'Join',
  joinTo: (workspace: string) => `Join ${workspace}`,
  invited: (email: string, role: string) => `${email} is invited as ${role}.`,
  invitedAs: (name: string, role: string) => `You are signed in as ${name}, and are invited as ${role}.`,
  roles: { member: 'member', admin: 'admin', owner: 'owner' } as Record<string, string>,
  yourName: 'Your name',
  yourNameHelp: 'How your colleagues see you.',
  passwordHelp: 'At least 12 characters. A few plain words are easy to remember.',
  haveAccount: 'You have an account already?',
  signInFirst: 'Sign in first',
  needs: {
    email: 'Enter your e-mail address.',
    password: 'Enter your password.',
    newPassword: (least: number) => `The password needs at least ${least} characters.`,
    shorterPassword: (most: number) => `The password has more than ${most} characters.`,
    name: (most: number) => `Your name needs 1 to ${most} characters.`,
    code: 'Enter the code.',
  },
  /** What the service says of a failure, in other words; what is not here is shown as it is. */
  problems: {} as Record<string, string>,
}

export type Words = typeof en

const pt: Words = {
  language: 'pt-BR',
  signIn: 'Entrar',
  signInHelp: 'Com o e-mail e a senha da sua conta no Parley.',
  email: 'E-mail',
  emailHelp: 'Você entra com ele.',
  password: 'Senha',
  forgotten: 'Esqueceu a senha? Peça um link de entrada a quem opera esta instalação.',
  enterCode: 'Digite o seu código',
  enterCodeHelp: 'A sua conta pede uma segunda etapa.',
  code: 'Código',
  codeHelp: 'Seis dígitos do autenticador, ou um dos seus códigos de recuperação.',
  startAgain: 'Começar de novo',
  welcome: 'Boas-vindas ao Parley',
  linkHelp: 'Este link deixa você entrar uma vez. Depois ele para de funcionar.',
  choosePassword: 'Escolha uma senha',
  choosePasswordHelp:
    'O link que trouxe você aqui funciona uma vez. Com uma senha você entra de novo por conta própria.',
  setPassword: 'Definir a senha',
  later: 'Depois',
  linkOver: 'Este link não funciona mais',
  linkOverHelp: 'Já foi usado, ou é antigo demais. Peça um novo.',
  withPassword: 'Entrar com a sua senha',
  nothingHere: 'Página não encontrada',
  nothingHereHelp: 'O endereço pode ter mudado, ou falta uma letra nele.',
  home: 'Ir para o início',
  failed: 'Algo deu errado',
  join: 'Participar',
  joinTo: (workspace) => `Participar de ${workspace}`,
  invited: (email, role) => `${email} foi convidado como ${role}.`,
  invitedAs: (name, role) => `Você entrou como ${name} e foi convidado como ${role}.`,
  roles: { member: 'membro', admin: 'administrador', owner: 'proprietário' },
  yourName: 'Seu nome',
  yourNameHelp: 'Como seus colegas veem você.',
  passwordHelp: 'Pelo menos 12 caracteres. Algumas palavras simples são fáceis de lembrar.',
  haveAccount: 'Já tem uma conta?',
  signInFirst: 'Entre primeiro',
  needs: {
    email: 'Digite o seu e-mail.',
    password: 'Digite a sua senha.',
    newPassword: (least) => `A senha precisa de pelo menos ${least} caracteres.`,
    shorterPassword: (most) => `A senha tem mais de ${most} caracteres.`,
    name: (most) => `Seu nome precisa de 1 a ${most} caracteres.`,
    code: 'Digite o código.',
  },
  problems: {
    'Wrong e-mail or password': 'E-mail ou senha incorretos',
    'Wrong code': 'Código incorreto',
    'This sign-in took too long. Sign in again.': 'Esta entrada demorou demais. Entre de novo.',
    'This invitation is no longer valid. Ask for a new one.': 'Este convite não vale mais. Peça um novo.',
    'Whoever sent this invitation may no longer invite with this role. Ask for a new one.':
      'Quem enviou este convite não pode mais convidar com este papel. Peça um novo.',
    'Too many attempts. Wait before you try again.': 'Tentativas demais. Espere antes de tentar de novo.',
    'You have an account already. Sign in, then open the invitation again.':
      'Você já tem uma conta. Entre e abra o convite de novo.',
    'You are a member of this workspace already': 'Você já é membro deste espaço',
  },
}

const es: Words = {
  language: 'es',
  signIn: 'Entrar',
  signInHelp: 'Con el correo y la contraseña de tu cuenta de Parley.',
  email: 'Correo',
  emailHelp: 'Entras con él.',
  password: 'Contraseña',
  forgotten: '¿Olvidaste la contraseña? Pide un enlace de entrada a quien administra esta instalación.',
  enterCode: 'Escribe tu código',
  enterCodeHelp: 'Tu cuenta pide un segundo paso.',
  code: 'Código',
  codeHelp: 'Seis dígitos del autenticador, o uno de tus códigos de recuperación.',
  startAgain: 'Empezar de nuevo',
  welcome: 'Te damos la bienvenida a Parley',
  linkHelp: 'Este enlace te deja entrar una vez. Después deja de funcionar.',
  choosePassword: 'Elige una contraseña',
  choosePasswordHelp:
    'El enlace que te trajo aquí funciona una vez. Con una contraseña vuelves a entrar por tu cuenta.',
  setPassword: 'Guardar la contraseña',
  later: 'Más tarde',
  linkOver: 'Este enlace ya no funciona',
  linkOverHelp: 'Ya se usó, o es demasiado antiguo. Pide uno nuevo.',
  withPassword: 'Entrar con tu contraseña',
  nothingHere: 'Página no encontrada',
  nothingHereHelp: 'La dirección puede haber cambiado, o le falta una letra.',
  home: 'Ir al inicio',
  failed: 'Algo salió mal',
  join: 'Unirme',
  joinTo: (workspace) => `Unirse a ${workspace}`,
  invited: (email, role) => `${email} tiene una invitación como ${role}.`,
  invitedAs: (name, role) => `Has entrado como ${name} y tienes una invitación como ${role}.`,
  roles: { member: 'miembro', admin: 'administrador', owner: 'propietario' },
  yourName: 'Tu nombre',
  yourNameHelp: 'Cómo te ven tus compañeros.',
  passwordHelp: 'Al menos 12 caracteres. Unas palabras sencillas son fáciles de recordar.',
  haveAccount: '¿Ya tienes una cuenta?',
  signInFirst: 'Entra primero',
  needs: {
    email: 'Escribe tu correo.',
    password: 'Escribe tu contraseña.',
    newPassword: (least) => `La contraseña necesita al menos ${least} caracteres.`,
    shorterPassword: (most) => `La contraseña tiene más de ${most} caracteres.`,
    name: (most) => `Tu nombre necesita de 1 a ${most} caracteres.`,
    code: 'Escribe el código.',
  },
  problems: {
    'Wrong e-mail or password': 'Correo o contraseña incorrectos',
    'Wrong code': 'Código incorrecto',
    'This sign-in took too long. Sign in again.': 'Esta entrada tardó demasiado. Entra de nuevo.',
    'This invitation is no longer valid. Ask for a new one.': 'Esta invitación ya no vale. Pide una nueva.',
    'Whoever sent this invitation may no longer invite with this role. Ask for a new one.':
      'Quien envió esta invitación ya no puede invitar con este rol. Pide una nueva.',
    'Too many attempts. Wait before you try again.': 'Demasiados intentos. Espera antes de probar otra vez.',
    'You have an account already. Sign in, then open the invitation again.':
      'Ya tienes una cuenta. Entra y abre la invitación de nuevo.',
    'You are a member of this workspace already': 'Ya eres miembro de este espacio',
  },
}

const languages: Record<string, Words> = { en, pt, es }

/** The words of the first language of the browser's that we speak. */
export function wordsFor(headers: IncomingHttpHeaders): Words {
  const wanted = (headers['accept-language'] ?? '').split(',').map(readRange)
  const best = wanted
    .toSorted((a, b) => b.weight - a.weight)
    .find(({ name, weight }) => weight > 0 && name in languages)
  return (best && languages[best.name]) ?? en
}

function readRange(range: string): { name: string; weight: number } {
  const [tag = '', ...parameters] = range.trim().toLowerCase().split(';')
  const weight = parameters.map((one) => /^\s*q=([\d.]+)$/.exec(one)?.[1]).find((found) => found !== undefined)
  return { name: tag.split('-')[0] ?? '', weight: weight === undefined ? 1 : Number(weight) }
}
