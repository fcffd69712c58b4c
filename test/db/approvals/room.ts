import { runParts } from '../../support/room';

runParts(__dirname);
