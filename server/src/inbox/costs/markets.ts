import { phoneCountry } from '../../base/phone/phone.ts'
import type { Customer } from '../../channels/channel-event.ts'

// The platform prices by the recipient's country calling code: a country has a rate of its own or that of its region,
// and countries move out of regions with new rate cards. So the country is stored, and the card in force decides.

const noRegion = 'Other'

/** Countries of the platform's list of calling codes by region: ISO code, calling code, name in rate cards. */
const countryList: Readonly<Record<string, string>> = {
  [noRegion]: `
    AR 54 Argentina, BR 55 Brazil, CL 56 Chile, CO 57 Colombia, EG 20 Egypt, FR 33 France, DE 49 Germany,
    HK 852 Hong Kong, HU 36 Hungary, IN 91 India, ID 62 Indonesia, IL 972 Israel, IT 39 Italy, KZ 7 Kazakhstan,
    MY 60 Malaysia, MX 52 Mexico, NL 31 Netherlands, NG 234 Nigeria, PK 92 Pakistan, PE 51 Peru, PL 48 Poland,
    QA 974 Qatar, RO 40 Romania, RU 7 Russia, SA 966 Saudi Arabia, SG 65 Singapore, ZA 27 South Africa, ES 34 Spain,
    TR 90 Turkey, AE 971 United Arab Emirates, GB 44 United Kingdom`,
  'North America': 'US 1 United States, CA 1 Canada',
  'Rest of Africa': `
    DZ 213 Algeria, AO 244 Angola, BJ 229 Benin, BW 267 Botswana, BF 226 Burkina Faso, BI 257 Burundi, CM 237 Cameroon,
    TD 235 Chad, CG 242 Republic of the Congo (Brazzaville), ER 291 Eritrea, ET 251 Ethiopia, GA 241 Gabon,
    GM 220 Gambia, GH 233 Ghana, GW 245 Guinea-Bissau, CI 225 Ivory Coast, KE 254 Kenya, LS 266 Lesotho,
    LR 231 Liberia, LY 218 Libya, MG 261 Madagascar, MW 265 Malawi, ML 223 Mali, MR 222 Mauritania, MA 212 Morocco,
    MZ 258 Mozambique, NA 264 Namibia, NE 227 Niger, RW 250 Rwanda, SN 221 Senegal, SL 232 Sierra Leone,
    SO 252 Somalia, SS 211 South Sudan, SD 249 Sudan, SZ 268 Swaziland, TZ 255 Tanzania, TG 228 Togo, TN 216 Tunisia,
    UG 256 Uganda, ZM 260 Zambia, ZW 263 Zimbabwe`,
  'Rest of Asia Pacific': `
    AF 93 Afghanistan, AU 61 Australia, BD 880 Bangladesh, KH 855 Cambodia, CN 86 China, JP 81 Japan, LA 856 Laos,
    MN 976 Mongolia, NP 977 Nepal, NZ 64 New Zealand, PG 675 Papua New Guinea, PH 63 Philippines, LK 94 Sri Lanka,
    TW 886 Taiwan, TJ 992 Tajikistan, TH 66 Thailand, TM 993 Turkmenistan, UZ 998 Uzbekistan, VN 84 Vietnam`,
  'Rest of Central & Eastern Europe': `
    AL 355 Albania, AM 374 Armenia, AZ 994 Azerbaijan, BY 375 Belarus, BG 359 Bulgaria, HR 385 Croatia,
    CZ 420 Czech Republic, GE 995 Georgia, GR 30 Greece, LV 371 Latvia, LT 370 Lithuania, MD 373 Moldova,
    MK 389 North Macedonia, RS 381 Serbia, SK 421 Slovakia, SI 386 Slovenia, UA 380 Ukraine`,
  'Rest of Western Europe': `
    AT 43 Austria, BE 32 Belgium, DK 45 Denmark, FI 358 Finland, IE 353 Ireland, NO 47 Norway, PT 351 Portugal,
    SE 46 Sweden, CH 41 Switzerland`,
  'Rest of Latin America': `
    BO 591 Bolivia, CR 506 Costa Rica, DO 1 Dominican Republic, EC 593 Ecuador, SV 503 El Salvador, GT 502 Guatemala,
    HT 509 Haiti, HN 504 Honduras, JM 1 Jamaica, NI 505 Nicaragua, PA 507 Panama, PY 595 Paraguay, PR 1 Puerto Rico,
    UY 598 Uruguay, VE 58 Venezuela`,
  'Rest of Middle East': `
    BH 973 Bahrain, IQ 964 Iraq, JO 962 Jordan, KW 965 Kuwait, LB 961 Lebanon, OM 968 Oman, YE 967 Yemen`,
}

/** A country of the platform's list. */
export interface MarketCountry {
  /** ISO 3166-1 alpha-2. */
  country: string
  callingCode: string
  /** Key of its own market, as `marketKey` returns it. */
  ownKey: string
  /** Key of the market that prices it on cards without its own. */
  regionKey: string
}

/**
 * Returns what two spellings of a market have in common: `Rest of Central & Eastern Europe` and `rest of central and
 * eastern europe` are one.
 */
export const marketKey = (market: string): string =>
  market
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll('&', ' and ')
    .replace(/[^\p{L}\p{N}()-]+/gu, ' ')
    .trim()

export const marketCountries: readonly MarketCountry[] = Object.entries(countryList).flatMap(([region, list]) =>
  list.split(',').map((line) => {
    const [country = '', callingCode = '', ...name] = line.trim().split(/\s+/)
    return { country, callingCode, ownKey: marketKey(name.join(' ')), regionKey: marketKey(region) }
  }),
)

/** Market of every country that the list does not name. */
export const otherMarketKey = marketKey(noRegion)

const byCountry = new Map(marketCountries.map((one) => [one.country, one]))
/** The United States and Russia: the first of the list that have a shared code, and most of its numbers. */
const sharedCodes = new Map([
  ['1', 'US'],
  ['7', 'RU'],
])
const byCallingCode = new Map(marketCountries.map((one) => [one.callingCode, one.country]))
const isoShape = /^[A-Z]{2}$/

/**
 * Returns the country by which the platform prices a message (ISO 3166-1 alpha-2); null if unknown. A customer who
 * hides the phone has a user id that begins with the country.
 */
export function countryOf({ phone, userId }: Pick<Customer, 'phone' | 'userId'>): string | null {
  if (phone !== null) return countryOfPhone(phone)
  const prefix = userId?.slice(0, 2) ?? ''
  return isoShape.test(prefix) ? prefix : null
}

/** Calling codes have one to three digits, and none begins with another. */
const codeLengths = [2, 3]

/** Returns the only country of the list with the calling code; undefined if several have it, or none. */
function soleCountry(phone: string): string | undefined {
  for (const length of codeLengths) {
    const country = byCallingCode.get(phone.slice(0, length))
    if (country !== undefined) return country
  }
  return undefined
}

// Territories with the code of a country, such as Jersey, are priced as that country. Numbers of +1 belong to many.
function countryOfPhone(phone: string): string | null {
  // Parsing a number takes many times as long, and every priced status has one.
  const sole = soleCountry(phone)
  if (sole !== undefined) return sole
  const found = phoneCountry(phone)
  if (found === null) return null
  const { country, callingCode } = found
  if (country !== null && (byCountry.has(country) || callingCode === '1')) return country
  return sharedCodes.get(callingCode) ?? byCallingCode.get(callingCode) ?? country
}
