# SPDX-License-Identifier: Apache-2.0
"""DP-GAN for the source-target benchmark: a small GAN whose discriminator sees the source through DP-SGD alone.

**Privacy.** Neighbours differ by one row, added or removed; the number of rows is public, as it is for the other methods. Each
step of the discriminator draws a Poisson sample of the source, clips every row's gradient and adds Gaussian noise; Opacus does
this and accounts for it. Generated points join the batch in a fixed number, so a row moves the sum by its own clipped gradient
only. The generator learns from the noisy discriminator alone, so all it draws is post-processing.

DP-SGD has a delta, so it cannot give pure epsilon: "epsilon = 3" is (3, 1e-6) here, and "rho = 3" the (epsilon, 1e-6) that rho
implies. Both are weaker than what the other methods give, so the comparison favours this one. So does tuning: the constants
were picked among five settings, for cost and time, on other draws of the synthetic pairs, and nothing is charged for that.
"""

import math
import warnings
from functools import cache
from typing import Any

import numpy as np
import torch
from opacus import PrivacyEngine
from opacus.accountants.utils import get_noise_multiplier
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from cloister import ApproxDP, PureDP, convert

from ._arrays import Array

DELTA = 1e-6
STEPS = 400  # of the discriminator
STEPS_PER_GENERATOR = 4
BATCH = 200  # source rows expected in a step, half of them where that is fewer; generated points in it
LATENT = 4
WIDTH = 32
CLIP = 0.5  # norm of one point's gradient
RATE_D = 2e-3
RATE_G = 2e-3
BETAS = (0.5, 0.9)


def draw_source(source: Array, guarantee: Any, *, size: int, seed: int) -> Array:
    """Return `size` points of the unit ball that resemble the source, under the (epsilon, delta) that `guarantee` allows."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with torch.random.fork_rng(devices=[]), warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Secure RNG turned off")
            warnings.filterwarnings("ignore", message="Full backward hook is firing")
            warnings.filterwarnings("ignore", message="Optimal order is the")
            torch.manual_seed(seed)
            generator = _train(source, allowed_epsilon(guarantee))
            with torch.no_grad():
                points = generator(torch.randn(size, LATENT)).numpy().astype(np.float64)
    finally:
        torch.set_num_threads(threads)
    return np.asarray(points / np.maximum(np.linalg.norm(points, axis=1, keepdims=True), 1.0))


def allowed_epsilon(guarantee: Any) -> float:
    """Return the epsilon at DELTA that DP-SGD may spend."""
    return guarantee.epsilon if isinstance(guarantee, PureDP) else convert(guarantee, ApproxDP, delta=DELTA).epsilon


def _train(source: Array, epsilon: float) -> nn.Module:
    generator, discriminator = _network(LATENT, source.shape[1], nn.ReLU), _network(source.shape[1], 1, nn.LeakyReLU)
    generator_steps = torch.optim.Adam(generator.parameters(), lr=RATE_G, betas=BETAS)
    table = TensorDataset(torch.tensor(source, dtype=torch.float32))
    loader = DataLoader(table, batch_size=min(BATCH, math.ceil(len(source) / 2)))
    rounds = math.ceil(STEPS / len(loader))
    engine = PrivacyEngine(accountant="prv")
    discriminator, steps, loader = engine.make_private(
        module=discriminator,
        optimizer=torch.optim.Adam(discriminator.parameters(), lr=RATE_D, betas=BETAS),
        data_loader=loader,
        noise_multiplier=_noise(epsilon, 1 / len(loader), rounds * len(loader)),
        max_grad_norm=CLIP,
        loss_reduction="sum",
    )
    batches = (rows for _ in range(rounds) for (rows,) in loader)
    for step, rows in enumerate(batches, start=1):
        _teach_discriminator(discriminator, steps, rows, generator(torch.randn(BATCH, LATENT)).detach())
        if step % STEPS_PER_GENERATOR == 0:
            _teach_generator(generator, generator_steps, discriminator)
    spent = engine.get_epsilon(DELTA)
    if not spent <= epsilon:
        raise RuntimeError(f"dp-gan: expected at most epsilon = {epsilon:.4g} spent, got {spent:.4g}. Lower STEPS.")
    return generator


@cache
def _noise(epsilon: float, rate: float, steps: int) -> float:
    return get_noise_multiplier(target_epsilon=epsilon, target_delta=DELTA, sample_rate=rate, steps=steps, accountant="prv")


def _network(inputs: int, outputs: int, activation: Any) -> nn.Sequential:
    return nn.Sequential(
        nn.Linear(inputs, WIDTH), activation(), nn.Linear(WIDTH, WIDTH), activation(), nn.Linear(WIDTH, outputs)
    )


def _teach_discriminator(discriminator: Any, steps: Any, rows: Any, fakes: Any) -> None:
    scores = discriminator(torch.cat([rows, fakes])).squeeze(1)
    truth = torch.cat([torch.ones(len(rows)), torch.zeros(len(fakes))])
    steps.zero_grad()
    nn.functional.binary_cross_entropy_with_logits(scores, truth, reduction="sum").backward()
    steps.step()
    steps.zero_grad()


def _teach_generator(generator: Any, steps: Any, discriminator: Any) -> None:
    discriminator.disable_hooks()  # per-row gradients are for the source only
    scores = discriminator(generator(torch.randn(BATCH, LATENT)))
    steps.zero_grad()
    nn.functional.softplus(-scores).mean().backward()
    steps.step()
    discriminator.enable_hooks()
