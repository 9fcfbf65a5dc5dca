import type { WordPools } from './pools.js';
import { words, wordTable } from './word-table.js';

/** Words of training tasks; none of them is in the held-out pools. */
export const TRAIN_POOLS: WordPools = {
  entities: words(`
    orders invoices tickets members bookings trips flights cars trucks vans houses flats offices desks chairs tables
    lamps books authors poems films actors albums bands concerts games matches players coaches clubs races runners
    cities towns villages streets bridges parks gardens trees flowers seeds crops fields cows goats ducks eggs
    cakes soups menus chefs guests waiters shops clerks goods parcels crates pallets ships ports docks engines
    wheels tires tools nails screws pumps pipes valves tanks meters sensors readings samples tests trials patients
    nurses clinics pills doses visits teachers pupils courses lessons exams grants papers reviews surveys answers
    votes parties taxes loans claims policies accounts payments refunds`),
  categories: wordTable(`
    status: paid open sent closed late done
    city: Paris Rome Oslo Berlin Madrid Vienna
    country: Spain Italy Norway Japan Chile Kenya
    color: red green blue black white pink
    region: north south east west
    level: low mid high top
    team: alpha beta gamma delta
    size: small big huge tiny
    plan: free basic pro max
    brand: Acme Nova Zenit Orion Vega
    group: toys food books garden
    language: English French German Czech
    mode: auto manual mixed
    shift: day night morning
    grade: A B C D
    source: web phone mail shop
    weekday: Monday Tuesday Friday Sunday
    material: wood steel glass paper
    owner: anna bob carl dora emil
    branch: sales legal support design
    priority: urgent normal minor
    genre: drama comedy jazz rock
    state: idle busy broken ready
    method: cash card check transfer
    role: admin editor viewer guest
    species: cat dog fish bird
    zone: inner outer middle
    flavor: mint lemon cocoa honey
    fuel: diesel petrol gas
    weather: sunny rainy windy foggy
    shape: round square oval flat
    outlet: store kiosk market`),
  numbers: words(`
    price amount total age score weight height length cost count stock rating points year distance speed hours
    minutes salary budget balance fee tax rent volume width depth area units views likes clicks errors pages seats
    rooms power load rank quota profit loss margin share rate level_no index size_cm weight_kg temp heat range`),
  labels: words('id name code sku label key title number'),
  logWords: words(
    'ERROR WARN INFO timeout failed login retry denied refused restart upload started stopped cache queue worker',
  ),
  logNames: words('server app system access worker mailer backup'),
};
