import type { WordPools } from './pools.js';
import { words, wordTable } from './word-table.js';

/** Words of validation and test tasks that the base model has never been trained on. */
export const HELD_POOLS: WordPools = {
  entities: words(`
    rentals tenants museums galleries planets rockets wines cheeses lakes glaciers castles coupons drones cameras
    laptops donors volunteers orchards beehives turbines satellites violins sculptures podcasts kayaks lanterns
    blankets compasses tractors harbors`),
  categories: wordTable(`
    carrier: dhl fedex postnord hermod
    fabric: linen silk velvet denim
    season: winter spring summer autumn
    verdict: guilty innocent mistrial
    habitat: desert forest ocean tundra
    medal: gold silver bronze
    warehouse: lisbon dublin prague cairo
    vendor: globex initech umbrella hooli
    outcome: victory defeat stalemate
    channel: radio podcast billboard leaflet
    badge: novice expert veteran
    currency: euro dollar krona peso
    continent: africa asia europe oceania
    instrument: piano flute cello trumpet
    mineral: quartz topaz granite basalt
    pasture: meadow prairie steppe`),
  numbers: words(`
    revenue mileage altitude latency bonus royalty humidity pressure wattage attendance downloads citations calories
    deposit surcharge turnover density voltage rainfall`),
  labels: words('handle serial slug barcode'),
  logWords: words('panic overflow expired corrupt throttled segfault deadlock rollback'),
  logNames: words('gateway scheduler firewall'),
};
