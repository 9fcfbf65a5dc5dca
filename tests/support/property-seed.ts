/** Property tests draw the same cases in every run of `npm test`; TACKROOM_PROPERTY_SEED=N asks for others. */
import fc from 'fast-check';

fc.configureGlobal({ seed: Number(process.env.TACKROOM_PROPERTY_SEED ?? 20261129) });
