// Realistic leads, the same for the same seed: mostly Brazilian phones, names in several languages, a few common and
// many rare, skewed statuses.

const firstNames =
  'Maria José Ana João Antônio Francisco Carlos Paulo Pedro Lucas Luiz Marcos Gabriel Rafael Daniel Marcelo Bruno Juliana Márcia Fernanda Patrícia Aline Sofia Camila Valentina Mateo Santiago Lucía Diego Emma Olivia Liam Noah Jürgen Anneliese Łukasz Zoë Chloé Søren Nguyễn Yuki Aarav Fatima Adriana Rodrigo Eduardo Vanessa Sandra Letícia Amanda Jéssica Felipe Guilherme Leonardo Gustavo Thiago Vinícius Roberto Ricardo Sérgio Cláudia Vera Rosa Tereza Joana Beatriz Larissa Bianca Renata Simone Débora Mônica Luciana Cristina Isabel Helena Alice Laura Manuela Júlia Davi Arthur Miguel Heitor Bernardo Samuel Theo Henrique Wilson Washington Wagner Edson Jorge Raimundo Sebastião Benedito Geraldo Otávio Caio Murilo Enzo Nicolas Yasmin Agnieszka Katarzyna Björn Ingrid Hans Klaus Giulia Matteo Chiara Aoife Siobhán Priya Arjun Mei Hiroshi Oluwaseun Amina'.split(
    ' ',
  )
const lastNames =
  'Silva Santos Oliveira Souza Rodrigues Ferreira Alves Pereira Lima Gomes Costa Ribeiro Martins Carvalho Almeida Lopes García Hernández González Müller Schmidt Smith Johnson Brown Kowalski Nowak Dubois Rossi Bianchi Tanaka Nguyen Khan Okafor Soares Fernandes Vieira Barbosa Rocha Dias Nascimento Andrade Moreira Nunes Marques Machado Mendes Freitas Cardoso Ramos Gonçalves Santana Teixeira Araújo Pinto Correia Cavalcanti Monteiro Moura Azevedo Cunha Batista Campos Melo Barros Castro Borges Duarte Reis Pires Fonseca Coelho Xavier Antunes Bezerra Guimarães Magalhães Peixoto Queiroz Sampaio Tavares Vasconcelos Zanetti Wisniewski Schneider Fischer Weber López Martínez Pérez Sánchez Torres Williams Jones Taylor Davies Wilson Moreau Laurent Conti Esposito Romano Sato Suzuki Yamamoto Kim Park Chen Wang Singh Patel Mensah Diallo'.split(
    ' ',
  )
const syllables =
  'ba be bri ca clo dan del do en fa fre gi go ha hel is jo kla ku la lin lo ma me nor o pe qua ri ro sa sta ta tel u va ves wi xa yo zel zu'.split(
    ' ',
  )
const domains =
  'gmail.com gmail.com gmail.com gmail.com hotmail.com hotmail.com outlook.com yahoo.com.br example.com uol.com.br bol.com.br icloud.com'.split(
    ' ',
  )
const areas = ['11', '11', '11', '21', '21', '31', '41', '51', '61', '71', '81', '85']
const statuses = ['new', 'new', 'new', 'new', 'contacted', 'contacted', 'qualified', 'proposal', 'won', 'lost']
const sources = ['website', 'website', 'ads', 'ads', 'chat_app', 'referral', 'social', 'phone', 'other'] as const
const priorities = ['medium', 'medium', 'medium', 'low', 'high', 'urgent'] as const

export interface Person {
  firstName: string
  lastName: string
  email: string
  phone: string
  status: string
  source: (typeof sources)[number]
  priority: (typeof priorities)[number]
  externalRef: string
  estimatedValue: number
}

/** Returns the n-th person of the seed. */
export function person(n: number): Person {
  const random = randomOf(n)
  const firstName = common(random, firstNames)
  const lastName = random.below(10) === 0 ? rareName(random) : common(random, lastNames)
  const handle = `${firstName}${random.below(2) === 0 ? '.' : ''}${lastName}${random.below(10_000)}`
    .normalize('NFKD')
    .replace(/[^\w.]/g, '')
    .toLowerCase()
  return {
    firstName,
    lastName,
    email: `${handle}@${random.pick(domains)}`,
    phone: random.below(10) < 8 ? brazilian(random) : `1${String(2_000_000_000 + random.below(1_000_000_000))}`,
    status: random.pick(statuses),
    source: random.pick(sources),
    priority: random.pick(priorities),
    externalRef: `crm-${n}`,
    estimatedValue: random.below(500_000) / 100,
  }
}

// Prefers the first names of a list.
function common(random: Random, names: readonly string[]): string {
  const share = random.below(1_000_000) / 1_000_000
  return names[Math.floor(names.length * share * share)] ?? ''
}

function rareName(random: Random): string {
  const name = Array.from({ length: 3 + random.below(2) }, () => random.pick(syllables)).join('')
  return name.charAt(0).toUpperCase() + name.slice(1)
}

function brazilian(random: Random): string {
  return `55${random.pick(areas)}9${String(60_000_000 + random.below(40_000_000))}`
}

interface Random {
  below(limit: number): number
  pick<T>(values: readonly T[]): T
}

// xorshift32: tiny, and the same on every platform.
function randomOf(seed: number): Random {
  let state = (seed + 1) * 2_654_435_761
  const below = (limit: number): number => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) % limit
  }
  for (let n = 0; n < 4; n++) below(2)
  return { below, pick: (values) => values[below(values.length)] as (typeof values)[number] }
}
