export { type LoadImageOptions, loadImageInputs } from './load.ts';
export { InvalidImage, type LoadedImage } from './loaded-image.ts';
